"""What admins say about hardware: a coretype, a region, a catalogue file. Memory is typed in GiB, times as 2 h or 90 min."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from jobs import cataloguing
from jobs.models import Coretype, Region

from . import walltime
from .account import styled
from .groups import Group, Grouped

GIB = 1 << 30
MOST = 1_000_000
ECONOMY = "Per core and hour of work that may be interrupted. Empty: not offered."
PRICE = {"max_digits": 12, "decimal_places": 6, "min_value": Decimal(0)}


class Length(forms.CharField):
    """Seconds, typed and shown as a length of time."""

    def prepare_value(self, value: Any) -> Any:
        return walltime.say(value) if isinstance(value, int) else value

    def clean(self, value: Any) -> int:
        return walltime.parse(super().clean(value))


class Several(forms.ModelMultipleChoiceField):
    """Some of the rows; a number that no database holds is none of them."""

    def clean(self, value: Any) -> Any:
        known = {str(key) for key in self.queryset.values_list("pk", flat=True)}
        if odd := [str(one) for one in value or () if str(one) not in known]:
            raise ValidationError(self.error_messages["invalid_choice"], "invalid_choice", {"value": odd[0][:40]})
        return super().clean(value)


class CoretypeForm(Grouped, forms.ModelForm):
    """`version` is the one that the form was opened with: who saves a later one first wins, the other is told."""

    GROUPS = (
        Group("The coretype", ("name", "code", "region", "order", "active")),
        Group("A node", ("cores", "memory", "processor", "gpu", "max_nodes")),
        Group("Prices", ("price", "economy_price", "disk_price")),
        Group("Walltime", ("walltime_default", "walltime_max")),
        Group("Who may use it, and for what", ("groups", "software")),
        Group("Where it comes from", ("backend", "options")),
    )
    version = forms.IntegerField(widget=forms.HiddenInput)
    memory = forms.DecimalField(label="Memory a node", help_text="GiB", min_value=Decimal("0.001"), max_digits=12, decimal_places=3)
    price = forms.DecimalField(label="Price", help_text="Per core and hour. A new one holds for clusters asked for after it.", **PRICE)
    economy_price = forms.DecimalField(label="Economy price", required=False, help_text=ECONOMY, **PRICE)
    disk_price = forms.DecimalField(label="Disk price", initial=0, help_text="Per GiB and hour of a suspended workstation", **PRICE)
    backend = forms.ChoiceField(label="Backend", help_text="What finds the machines and gives them back")
    cores = forms.IntegerField(label="Cores a node", min_value=1, max_value=MOST)
    max_nodes = forms.IntegerField(label="Most nodes a job", min_value=1, max_value=MOST, initial=1)
    walltime_default = Length(label="Usual walltime", max_length=40, initial="4 h")
    walltime_max = Length(label="Longest walltime", max_length=40, initial="7 d")
    order = forms.IntegerField(label="Place in the list", min_value=0, max_value=MOST, initial=100)

    class Meta:
        model = Coretype
        fields = [
            *("name", "code", "region", "active", "order", "processor", "cores", "memory", "gpu", "max_nodes", "price", "economy_price"),
            *("disk_price", "walltime_default", "walltime_max", "groups", "software", "backend", "options"),
        ]
        labels = {"gpu": "Graphics", "active": "On offer"}
        field_classes = {"groups": Several, "software": Several}
        widgets = {"options": forms.Textarea({"rows": 4, "spellcheck": "false"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["memory"] = (Decimal(self.instance.memory) / GIB).quantize(Decimal("0.001"), ROUND_HALF_UP)
        self.fields["backend"].choices = _backends(self.instance.backend)  # type: ignore[attr-defined]
        self.fields["options"].help_text = _options()
        styled(self)

    def clean_memory(self) -> int:
        typed: Decimal = self.cleaned_data["memory"]
        if self.instance.pk and typed == self.initial["memory"]:
            return self.instance.memory  # to the byte, not as it was shown
        return int(typed * GIB)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        options, backend = data.get("options"), data.get("backend")
        if options is not None and not isinstance(options, dict):
            self.add_error("options", 'Options are names with values, such as {"partition": "long"}.')
        elif backend and (why := cataloguing.option_trouble(backend, options or {})):
            self.add_error("options", why)
        data["options"] = options or {}
        return data


class RegionForm(forms.ModelForm):
    class Meta:
        model = Region
        fields = ["name", "code"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        styled(self)


class CatalogueForm(forms.Form):
    """A file, or its text."""

    file = forms.FileField(required=False, label="File")
    text = forms.CharField(required=False, widget=forms.Textarea({"rows": 14}), max_length=cataloguing.LARGEST, label="Or its text")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        styled(self)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        file = data.get("file")
        if file is not None and file.size > cataloguing.LARGEST:
            raise ValidationError("A catalogue is smaller than 1 MiB.")
        try:
            data["catalogue"] = file.read().decode() if file is not None else data.get("text", "")
        except UnicodeDecodeError as error:
            raise ValidationError("This is no text.") from error
        if not data["catalogue"].strip():
            raise ValidationError("Choose a file, or paste its text.")
        return data


# --- private ----------------------------------------------------------------------------------------------------------
def _backends(now: str) -> list[tuple[str, str]]:
    """Those of the settings; one that was taken out of them stays chosen until somebody chooses another."""
    known = [(name, name) for name in settings.BACKENDS]
    return known if not now or now in settings.BACKENDS else [*known, (now, f"{now} (not set up)")]


def _options() -> str:
    """What each backend may be told."""
    names = {name: cataloguing.option_names(name) for name in settings.BACKENDS}
    return "; ".join(f"{name} takes {', '.join(some) or 'none'}" for name, some in names.items()) + "."
