"""The commands. Each is a few calls of the API; with --json it prints what the API answered."""

from __future__ import annotations

import fnmatch
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
from rich.markup import escape

from . import config, desks, show
from .api import Api, Refused
from .choices import Choice
from .follow import ended, follow, wait_for
from .transfer import download as fetch
from .transfer import found_in
from .transfer import upload as send

MONEY = ("amount", "spent", "held", "left")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option("0.1.0", prog_name="headrace")
def headrace() -> None:
    """Jobs of a Headrace portal from the command line."""


def api() -> Api:
    return Api(config.read())


@headrace.command()
@click.option("--url", envvar="HEADRACE_URL", prompt="Address of the portal", help="Such as https://headrace.example.org")
@click.option("--token", envvar="HEADRACE_TOKEN", prompt="Token (Account, Tokens)", hide_input=True)
def login(url: str, token: str) -> None:
    """Keep address and token for the other commands."""
    wanted = config.Config(url.rstrip("/"), token.strip())
    me = Api(wanted).get("users/me/")
    show.notes.print(f"Signed in as {escape(me['fullName'])}; kept in {config.write(wanted)}.")


@headrace.command()
@JSON
def software(as_json: bool) -> None:
    """What can be run."""
    rows = list(api().all("analyses/"))
    if as_json:
        show.as_json(rows)
        return
    cells = [(one["code"], one["name"], ", ".join(version["versionCode"] for version in one["versions"])) for one in rows]
    show.table(("code", "name", "versions"), cells)


@headrace.command()
@JSON
def hardware(as_json: bool) -> None:
    """What it can run on, and what is free now."""
    rows = list(api().all("coretypes/", isActive=True))
    if as_json:
        show.as_json(rows)
        return
    cells = [
        (
            one["code"],
            one["name"],
            one["coresPerNode"],
            one["maxNodes"],
            show.size(one["memoryPerNode"]),
            f"{one['price']:g}",
            "?" if one["freeCores"] is None else one["freeCores"],
        )
        for one in rows
    ]
    show.table(("code", "name", "cores a node", "nodes", "memory a node", "price a core and hour", "cores free"), cells)


@headrace.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("-c", "--command", required=True, help="What to run; - reads it from standard input.")
@click.option("-s", "--software", "code", default="shell", show_default=True)
@click.option("--version", "version", help="Version code; without it the newest.")
@click.option("-H", "--hardware", "kind", help="Coretype code; without it the cheapest.")
@click.option("-n", "--cores", type=click.IntRange(1), default=1, show_default=True, help="Cores in all.")
@click.option("--or", "others", multiple=True, type=Choice(), help="Or else this; again for a further one.")
@click.option("-t", "--walltime", type=click.FloatRange(0, min_open=True), help="Hours.")
@click.option("--name", help="Of the job; without it the first file's.")
@click.option("--project")
@click.option("-e", "--env", "environment", multiple=True, metavar="NAME=VALUE")
@click.option("--folder", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Send all that lies in it.")
@click.option("--no-unpack", is_flag=True, help="Leave archives as they are.")
@click.option("--draft", is_flag=True, help="Make it, but do not submit it.")
@click.option("-w", "--wait", is_flag=True, help="Until it is over; exit with the job's exit code.")
@click.option("-f", "--follow", "following", is_flag=True, help="Wait, and print its output as it comes.")
@click.option("-d", "--download", "target", type=click.Path(file_okay=False, path_type=Path), help="Wait, then fetch its files here.")
@JSON
def submit(files: tuple[Path, ...], folder: Path | None, following: bool, target: Path | None, as_json: bool, **asked: Any) -> None:
    """Send files, make a job of them, and submit it."""
    calls = api()
    sources = [(path, path.name) for path in files if path.is_file()]
    sources += [(path, f"{one.name}/{name}") for one in files if one.is_dir() for path, name in found_in(one)]
    sources += list(found_in(folder)) if folder else []
    body = _body(asked, _sent(calls, sources), sources)
    job = calls.post("jobs/", body, once=True)
    if not asked["draft"]:
        calls.post(f"jobs/{job['id']}/submit/", once=True)
    show.notes.print(f"{job['url']}", soft_wrap=True)
    waits = (asked["wait"] or following or target) and not asked["draft"]
    if waits:
        job = follow(calls, job["id"]) if following else wait_for(calls, job["id"])
        if target:
            _fetched(calls, job["id"], target, ())
    elif not as_json:
        click.echo(job["id"])
    if as_json:
        show.as_json(calls.get(f"jobs/{job['id']}/"))
    if waits:
        sys.exit(ended(job))


def _body(asked: dict[str, Any], inputs: list[dict[str, Any]], sources: list[tuple[Path, str]]) -> dict[str, Any]:
    command = sys.stdin.read() if asked["command"] == "-" else asked["command"]
    pairs = [one.partition("=") for one in asked["environment"]]
    if any(not equals for _, equals, _ in pairs):
        raise click.BadParameter("is NAME=VALUE", param_hint="--env")
    hardware = {"coreType": asked["kind"], "coresPerSlot": asked["cores"], "walltime": asked["walltime"], "alternatives": asked["others"]}
    analysis = {
        "analysis": {"code": asked["code"], "version": asked["version"]},
        "command": command,
        "hardware": hardware,
        "inputFiles": [{**one, "decompress": not asked["no_unpack"]} for one in inputs],
        "envVars": {name: value for name, _, value in pairs},
    }
    name = asked["name"] or (show.line(Path(sources[0][1]).stem) if sources else command.strip().split("\n")[0][:60]) or "job"
    return {"name": name, "projectId": asked["project"], "jobanalyses": [analysis]}


def _sent(calls: Api, sources: list[tuple[Path, str]]) -> list[dict[str, Any]]:
    with show.progress() as bars:
        whole = bars.add_task("Sending", total=sum(path.stat().st_size for path, _ in sources))
        return [{"id": send(calls, path, name, lambda count: bars.advance(whole, count))} for path, name in sources]


@headrace.command()
@click.argument("job", required=False)
@click.option("-n", "count", default=20, show_default=True, help="How many jobs.")
@JSON
def status(job: str | None, count: int, as_json: bool) -> None:
    """Where a job stands, or the newest ones."""
    calls = api()
    if job is None:
        _listed(calls, count, as_json)
        return
    found = calls.get(f"jobs/{job}/")
    if as_json:
        show.as_json(found)
        return
    show.out.print(f"{escape(found['name'])}  {show.standing(found)}  {escape(show.about(found))}")
    for entry in reversed(calls.get(f"jobs/{job}/statuses/")["results"]):
        show.out.print(f"  {entry['statusDate'][:19].replace('T', ' ')}  {entry['status']}  {escape(entry['statusReason'] or '')}")


def _listed(calls: Api, count: int, as_json: bool) -> None:
    rows = calls.get("jobs/", page_size=count)["results"]
    if as_json:
        show.as_json(rows)
        return
    show.table(("id", "name", "status", "made", ""), [_row(one) for one in rows])


def _row(job: dict[str, Any]) -> tuple[str, ...]:
    return job["id"], escape(job["name"]), show.standing(job), job["dateInserted"][:16].replace("T", " "), escape(show.about(job))


@headrace.command()
@click.argument("job")
@click.option("-f", "--follow", "following", is_flag=True, help="Go on until the job is over; exit with its exit code.")
@click.option("-n", "--lines", default=50, show_default=True)
@click.option("--file", "path", default="process_output.log", show_default=True, help="Any file of the job.")
@JSON
def tail(job: str, following: bool, lines: int, path: str, as_json: bool) -> None:
    """The end of a job's output, or of one of its files."""
    calls = api()
    if following:
        stream = "stdout" if path == "process_output.log" else f"file:{_listed_as(path)}"
        sys.exit(ended(follow(calls, job, stream)))
    found = calls.get(f"jobs/{job}/runs/1/tail/{quote(_listed_as(path))}", lines=lines)["lines"]
    if as_json:
        show.as_json(found)
        return
    for line in found:
        click.echo(line)


def _listed_as(path: str) -> str:
    """As the portal lists it; what was typed as it is listed stays so."""
    return os.fsencode(path).decode(errors="backslashreplace")


@headrace.command()
@click.argument("job")
@click.option("--force", is_flag=True, help="At once; what is not saved yet is given up.")
@click.option("-w", "--wait", is_flag=True, help="Until it is over.")
@JSON
def stop(job: str, force: bool, wait: bool, as_json: bool) -> None:
    """End a job; its outputs are saved."""
    calls = api()
    answer = calls.post(f"jobs/{job}/stop/", {"force": force})
    if wait:
        wait_for(calls, job)
    show.as_json(answer) if as_json else show.notes.print(f"{job} was asked to {answer['wish']}.")


@headrace.command()
@click.argument("job")
@click.argument("patterns", nargs=-1)
@click.option("-o", "--output", "folder", type=click.Path(file_okay=False, path_type=Path), help="Without it a folder with the job's id.")
@JSON
def download(job: str, patterns: tuple[str, ...], folder: Path | None, as_json: bool) -> None:
    """Fetch a job's files, all or those that match (*.vtk); goes on where an earlier run broke off."""
    got = _fetched(api(), job, folder or Path(job), patterns)
    if as_json:
        show.as_json([str(path) for path in got])
        return
    show.notes.print(f"{len(got)} files in {folder or job}.")


def _fetched(calls: Api, job: str, folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    files = list(calls.all(f"jobs/{job}/files/", page_size=1000))
    wanted = [one for one in files if not patterns or any(fnmatch.fnmatch(one["relativePath"], pattern) for pattern in patterns)]
    if patterns and not wanted:
        raise Refused(0, "No file of the job matches.")
    with show.progress() as bars:
        whole = bars.add_task("Fetching", total=sum(one["size"] for one in wanted))
        return [fetch(calls, one, folder, lambda count: bars.advance(whole, count)) for one in wanted]


@headrace.command()
@click.argument("job", required=False)
@JSON
def ls(job: str | None, as_json: bool) -> None:
    """The files of a job, or one's own uploads."""
    rows = list(api().all(f"jobs/{job}/files/" if job else "files/", page_size=1000))
    if as_json:
        show.as_json(rows)
        return
    show.table(("id", "size", "path"), [(one["id"], show.size(one["size"]), escape(one["relativePath"])) for one in rows])


@headrace.command()
@click.argument("job", required=False)
@JSON
def cost(job: str | None, as_json: bool) -> None:
    """What a job has cost so far, or what is left in the budgets."""
    if job is None:
        _budgets(list(api().all("budgets/")), as_json)
        return
    found = api().get(f"jobs/{job}/")
    if as_json:
        show.as_json({"cost": found["cost"], "costAtMost": found["costAtMost"]})
    else:
        show.out.print(f"{found['cost']} so far, {found['costAtMost']} at most")


def _budgets(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        show.as_json(rows)
    else:
        show.table(("budget", *MONEY), [[escape(one["name"]), *(one[key] for key in MONEY)] for one in rows])


for command in (desks.send, desks.take):
    headrace.add_command(command)

if os.environ.get("NO_COLOR"):
    show.out.no_color = show.notes.no_color = True
