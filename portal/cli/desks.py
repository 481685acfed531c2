"""Commands for workstations' files: sent into a home, taken from its last copy."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from . import config, show
from .api import Api, Refused
from .transfer import upload

AT_ONCE = 500
"""Files of one request; the portal takes no more."""
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@click.argument("workstation")
@click.argument("files", nargs=-1, required=True)
@JSON
def send(workstation: str, files: tuple[str, ...], as_json: bool) -> None:
    """Send files into a workstation's home: paths here, or ids of uploads and of jobs' files. A suspended one gets them at its resume."""
    calls = Api(config.read())
    ids = [_id(calls, file) for file in files]
    sent = [row for some in _parts(ids) for row in calls.post(f"workstations/{workstation}/sent/", {"files": some})["results"]]
    if as_json:
        show.as_json(sent)
        return
    show.table(("id", "size", "path", ""), [(row["fileId"], show.size(row["size"]), escape(row["path"]), row["status"]) for row in sent])


def _id(calls: Api, file: str) -> str:
    path = Path(file)
    if not path.is_file():
        return file
    with show.progress() as bars:
        whole = bars.add_task(f"Sending {escape(path.name)}", total=path.stat().st_size)
        return upload(calls, path, path.name, lambda count: bars.advance(whole, count))


@click.command()
@click.argument("workstation")
@click.argument("patterns", nargs=-1, required=True)
@JSON
def take(workstation: str, patterns: tuple[str, ...], as_json: bool) -> None:
    """Take files that match (case/*) from the last copy of a workstation's home to one's own files; prints their ids."""
    calls = Api(config.read())
    copies = calls.get(f"workstations/{workstation}/copies/", page_size=1)["results"]
    if not copies:
        raise Refused(0, "There is no copy of its home yet; one is made now and then, and when it is suspended.")
    place = f"workstations/{workstation}/copies/{copies[0]['id']}/"
    files = (one for one in calls.all(f"{place}files/", page_size=1000) if one["kind"] == "file")
    wanted = [one["index"] for one in files if _matches(one["path"], patterns)]
    if not wanted:
        raise Refused(0, f"No file in the copy of {copies[0]['dateMade'][:16].replace('T', ' ')} UTC matches.")
    taken = [row for some in _parts(wanted) for row in calls.post(f"{place}take/", {"files": some})["results"]]
    if as_json:
        show.as_json(taken)
        return
    show.table(("id", "size", "path"), [(row["id"], show.size(row["size"]), escape(row["relativePath"])) for row in taken])


def _matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def _parts(items: list[Any]) -> list[list[Any]]:
    return [items[at : at + AT_ONCE] for at in range(0, len(items), AT_ONCE)]
