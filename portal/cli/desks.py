"""Commands for workstations' files: sent into a home, taken from its last copy."""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from . import config, show
from .api import Api, Refused
from .transfer import found_in, upload

AT_ONCE = 500
"""Files of one request; the portal takes no more."""
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command()
@click.argument("workstation")
@click.argument("files", nargs=-1, required=True)
@JSON
def send(workstation: str, files: tuple[str, ...], as_json: bool) -> None:
    """Send files into a workstation's home: paths of files and folders here, or ids of uploads and of jobs' files.

    A suspended one gets them at its resume.
    """
    calls = Api(config.read())
    sources = [source for file in files for source in _sources(file)]
    ids = [_id(calls, *source) for source in sources]
    sent = [row for some in _parts(ids) for row in calls.post(f"workstations/{workstation}/sent/", {"files": some})["results"]]
    if as_json:
        show.as_json(sent)
        return
    show.table(("id", "size", "path", ""), [(row["fileId"], show.size(row["size"]), escape(row["path"]), row["status"]) for row in sent])


def _sources(file: str) -> list[tuple[Path | None, str]]:
    """What a word means: a file here, all of a folder with their paths in it, or, without a path, an id."""
    path = Path(file)
    if path.is_file():
        return [(path, path.name)]
    if path.is_dir():
        folder = path.resolve().name
        found: list[tuple[Path | None, str]] = [(one, f"{folder}/{name}" if folder else name) for one, name in found_in(path)]
        if not found:
            raise Refused(0, f"{show.line(file)} is a folder without files.")
        return found
    if not file.isascii() or "/" in file:
        raise Refused(0, f"{show.line(file)} is no file here, nor the id of one.")
    return [(None, file)]


def _id(calls: Api, path: Path | None, name: str) -> str:
    if path is None:
        return name
    with show.progress() as bars:
        whole = bars.add_task(f"Sending {escape(show.line(name))}", total=path.stat().st_size)
        return upload(calls, path, name, lambda count: bars.advance(whole, count))


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
