"""What people type for hardware that will do as well: CORETYPE:CORES, or CORETYPE alone for as many cores as at first."""

from __future__ import annotations

from typing import Any

import click


class Choice(click.ParamType):
    """One alternative, in the API's form."""

    name = "CORETYPE[:CORES]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        kind, colon, typed = (part.strip() for part in str(value).partition(":"))
        if not kind or (colon and not (typed.isascii() and typed.isdigit() and int(typed) > 0)):
            self.fail(f"{value!r} is not CORETYPE:CORES, such as granite:16.", param, ctx)
        return {"coreType": kind, "cores": int(typed)} if colon else {"coreType": kind}
