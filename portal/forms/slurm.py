"""What admins say about a Slurm cluster: which kinds of its nodes are offered and how, and whose account is whose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_DOWN, Decimal
from typing import Any

from django import forms
from django.contrib.auth import get_user_model

from jobs import cataloguing, proposing
from jobs.models import ACCOUNT, Coretype

from .account import styled
from .coretype import GIB, MOST, PRICE, Length

FINE = Decimal("0.001")
WORD = 200


class OfferForm(forms.Form):
    """A kind of nodes as a coretype. What Slurm calls it goes along unseen, checked like any coretype's options."""

    take = forms.BooleanField(label="Offer it", required=False)
    name = forms.CharField(label="Name", max_length=120)
    code = forms.SlugField(label="Code", max_length=proposing.CODE)
    cores = forms.IntegerField(label="Cores a node", min_value=1, max_value=MOST)
    memory = forms.DecimalField(label="Memory a node, GiB", min_value=FINE, max_digits=12, decimal_places=3)
    max_nodes = forms.IntegerField(label="Most nodes a job", min_value=1, max_value=MOST)
    walltime_max = Length(label="Longest walltime", max_length=40)
    price = forms.DecimalField(label="Price a core-hour", initial=0, **PRICE)
    partition = forms.CharField(widget=forms.HiddenInput, max_length=WORD)
    gres = forms.CharField(widget=forms.HiddenInput, max_length=WORD, required=False)

    def __init__(self, *args: Any, backend: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.backend = backend
        styled(self)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        data["options"] = {name: data[name] for name in ("partition", "gres") if data.get(name)}
        if why := cataloguing.option_trouble(self.backend, data["options"]):
            self.add_error(None, why)
        if data.get("take") and Coretype.objects.filter(code=data.get("code", "")).exists():
            self.add_error("code", "There is a coretype of this code already.")
        return data

    def can_be_tried(self) -> bool:
        """Whether what is typed is hardware, be it offered already or not."""
        self.is_valid()
        return {"name", "cores", "memory", "options"} <= set(self.cleaned_data) and not self.non_field_errors()

    def values(self) -> dict[str, Any]:
        """Of the coretype, as proposing.offer wants them."""
        data = self.cleaned_data
        plain = {name: data.get(name) for name in ("name", "code", "cores", "max_nodes", "walltime_max", "options")}
        return {**plain, "memory": int(data["memory"] * GIB), "gpu": proposing.gpu_of(data.get("gres") or "")}


OfferSet = forms.formset_factory(OfferForm, extra=0, max_num=200, absolute_max=200)


def initial(backend: str, kinds: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the forms begin with, for kinds of nodes as a look has found them: those that are not offered yet are chosen."""
    there = proposing.offered(backend)
    return [_initial(proposing.proposed(kind), there) for kind in kinds]


def _initial(values: Mapping[str, Any], there: set[tuple[str, str, int]]) -> dict[str, Any]:
    options = values["options"]
    known = (options["partition"], options.get("gres", ""), values["cores"])
    return {
        **{name: values[name] for name in ("name", "code", "cores", "max_nodes", "walltime_max")},
        "memory": (Decimal(values["memory"]) / GIB).quantize(FINE, ROUND_DOWN),  # never more than a node has
        "price": 0,
        "take": known not in there,
        "partition": options["partition"],
        "gres": options.get("gres", ""),
    }


class AccountForm(forms.Form):
    """A portal user and a Unix account."""

    user = forms.ModelChoiceField(get_user_model().objects.none(), label="Portal user")
    name = forms.CharField(label="Account on the cluster", max_length=32, help_text="As Slurm knows it, such as anna. Jobs run as that.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["user"].queryset = get_user_model().objects.filter(is_active=True).order_by("username")
        styled(self)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not re.fullmatch(ACCOUNT, name):
            raise forms.ValidationError("This is no name of a Unix account, such as anna.")
        if name == "root":
            raise forms.ValidationError("Jobs never run as root.")
        return name
