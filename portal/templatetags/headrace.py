"""Template tags and filters of the pages: icons, badges, money, times, bars.

One idea: a tone is never colour alone. Whatever takes a tone also writes an icon and a word (badge, tone_tag, note).
No tag writes an inline style: the pages run under a Content-Security-Policy that forbids them. What a list shows again and again
(icons, pips) is made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import urlencode

from django import template
from django.template.context import Context
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from portal import words

register = template.Library()
for name in ("money", "price", "clock", "duration", "size", "count", "percent", "exact", "coded"):
    register.filter(name, getattr(words, name))

NOTE_ICONS = {"wait": "info-circle", "work": "info-circle", "pass": "circle-check", "fail": "circle-x", "look": "alert-triangle"}
SPIN = mark_safe('<span class="spin" aria-hidden="true"></span>')  # noqa: S308 (our own markup)


class Toned(Protocol):
    """What a badge shows: a row of the lifecycle, or anything shaped like one."""

    label: str
    tone: str
    icon: str


@register.simple_tag
@lru_cache(1024)
def icon(name: str, kind: str = "") -> SafeString:
    """One icon of the sprite, hidden from screen readers: the word stands beside it. `kind` is one more class."""
    classes = f"icon {kind}".strip()
    return format_html(
        '<svg class="{}" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>', classes, static("build/icons.svg"), name
    )


@register.simple_tag
def mark(tone: str, name: str) -> SafeString:
    """The mark of a tone: a turning ring while working, else the icon."""
    return SPIN if tone == "work" and name != "activity" else icon(name)


@register.simple_tag
def badge(status: Toned, size: str = "") -> SafeString:
    """A status as a badge. `size`: "lg" for the head of a page, "plain" without a ground."""
    return tone_tag(status.tone, status.icon, status.label, size, turning=status.tone == "work")


@register.simple_tag
def tone_tag(tone: str, name: str, word: str, size: str = "", turning: bool = False) -> SafeString:
    """Icon and word in a tone; an empty tone is neutral."""
    classes = " ".join(filter(None, ["tone-tag", tone and f"tone-{tone}", size and f"tone-tag-{size}"]))
    return format_html('<span class="{}">{}{}</span>', classes, SPIN if turning else icon(name), word)


@register.simple_tag
def pips(tones: Sequence[str | None], label: str) -> SafeString:
    """Five marks in a row, one a stage; None or "" for a stage not reached. `label` says it in words."""
    return _pips(tuple(tones), label)


@lru_cache(1024)
def _pips(tones: tuple[str | None, ...], label: str) -> SafeString:
    marks = format_html_join("", "<i{}></i>", ((_tone_class(tone),) for tone in tones))
    return format_html('<span class="pips" role="img" aria-label="{}">{}</span>', label, marks)


@register.simple_tag
def when(moment: datetime | float | None, empty: str = "") -> SafeString | str:
    """How long ago, with the exact time on hover; static/js/times.js keeps it fresh."""
    if moment is None:
        return empty
    at = words.moment(moment)
    return format_html(
        '<time datetime="{}" title="{}" data-when>{}</time>', at.isoformat(timespec="seconds"), words.exact(at), words.relative(at)
    )


@register.simple_tag
def since(moment: datetime | float | None, until: datetime | float | None = None) -> SafeString | str:
    """The time between two moments as digits; without an end it runs on in the browser."""
    if moment is None:
        return ""
    start = words.moment(moment)
    end = words.moment(until) if until is not None else None
    length: timedelta = (end or timezone.now()) - start
    running = mark_safe("") if end else format_html(' data-since="{}"', f"{start.timestamp():.3f}")
    title = f"since {words.exact(start)}" if end is None else f"{words.exact(start)} to {words.exact(end)}"
    return format_html('<time datetime="PT{}S" title="{}"{}>{}</time>', int(length.total_seconds()), title, running, words.clock(length))


@register.simple_tag
def bar(done: float, label: str, more: float = 0, at: float | None = None, tone: str = "", size: str = "") -> SafeString:
    """A bar from 0 to 100: `done` filled, `more` hatched after it, `at` a mark. Drawn as SVG: its widths are attributes."""
    done, more = _share(done), _share(more)
    classes = " ".join(filter(None, ["bar", tone and f"tone-{tone}", size and f"bar-{size}"]))
    parts = [_rect("bar-done", 0, done)] if done else []
    if more:
        parts += [_rect("bar-more", done, min(more, 100 - done)), _hatch(done, min(more, 100 - done))]
    if at is not None:
        parts.append(_rect("bar-mark", min(_share(at), 99.6), 0.4))
    drawn = format_html_join("", "{}", ((part,) for part in parts))
    return format_html('<svg class="{}" role="img" aria-label="{}">{}</svg>', classes, label, drawn)


@register.simple_block_tag
def note(content: str, tone: str, title: str = "", name: str = "", role: str = "status") -> SafeString:
    """{% note "fail" "What happened" %}what was kept, what to do{% endnote %}; role "alert" for errors of a form."""
    head = format_html("<strong>{}</strong> ", title) if title else ""
    return format_html(
        '<div class="note tone-{}" role="{}">{}<div>{}{}</div></div>', tone, role, icon(name or NOTE_ICONS[tone]), head, mark_safe(content)  # noqa: S308
    )


@register.simple_tag(takes_context=True)
def nav_link(context: Context, view: str, word: str, name: str) -> SafeString | str:
    """One entry of the main navigation; nothing while there is no such view. Marked as current on all pages below it."""
    try:
        address = reverse(view)
    except NoReverseMatch:
        return ""
    request = context.get("request")
    here = request is not None and (request.path == address or (address != "/" and request.path.startswith(address)))
    current = mark_safe(' aria-current="true"') if here else ""
    return format_html('<li><a href="{}"{}>{}{}</a></li>', address, current, icon(name), word)


@register.simple_tag
def query(**pairs: Any) -> str:
    """An encoded query for an address: {% query stream=name attempt=2 %}."""
    return urlencode(pairs)


@register.filter
def initials(user: Any) -> str:
    """ML of Mara Lindqvist; two letters of the name where there is no full one."""
    full = str(user.get_full_name() or user.get_username())
    parts = [part for part in full.replace(".", " ").replace("_", " ").split() if part]
    return ("".join(part[0] for part in parts[:2]) if len(parts) > 1 else full[:2]).upper()


@register.filter
def message_tone(level: str) -> str:
    """The tone of one of Django's messages."""
    return {"success": "pass", "error": "fail", "warning": "look"}.get(level, "work")


@register.filter
def share(part: float, whole: float) -> float:
    """Percent of the whole, 0 to 100; 0 where there is no whole."""
    return 0.0 if not whole else _share(100 * float(part) / float(whole))


def _tone_class(tone: str | None) -> SafeString:
    return format_html(' class="tone-{}"', tone) if tone else mark_safe("")


def _share(value: float) -> float:
    return round(min(100.0, max(0.0, float(value))), 2)


def _rect(kind: str, x: float, width: float) -> SafeString:
    return format_html('<rect class="{}" x="{}%" width="{}%" height="100%"></rect>', kind, x, width)


def _hatch(x: float, width: float) -> SafeString:
    """Stripes: a dashed line as thick as the bar."""
    return format_html('<line class="bar-hatch" x1="{}%" x2="{}%" y1="50%" y2="50%"></line>', x, round(x + width, 2))
