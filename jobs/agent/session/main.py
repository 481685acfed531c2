"""The session's first process: reads what it shall be and becomes it.

The one idea: whatever keeps it from running is said in words on its output, which is the workload's log.
"""
import json
import os
import sys
from typing import Any, Dict, List, NamedTuple

MISSING = 127  # exit code: a program is not there, as a shell says it
BASH = "/bin/bash"
_BASHRC = r"""[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
whoami >/dev/null 2>&1 || PS1='\w\$ '
[ -r ~/.bashrc ] && . ~/.bashrc
"""


class Settings(NamedTuple):
    """`folder` is the session's own (sockets, secrets); `home` the user's; `start` shell text of the kind or "".

    `base` is the path of web addresses; `grace` are the seconds that programs get to end.
    """

    kind: str
    folder: str
    home: str
    base: str
    geometry: str
    start: str
    grace: float


def main(argv: List[str]) -> int:
    """The exit code. argv: the program, "session", path of the settings."""
    settings = load(argv[2])
    os.chdir(settings.home)
    if settings.kind == "desktop":
        from . import desktop as kind
    elif settings.kind == "jupyter":
        from . import jupyter as kind  # type: ignore[no-redef]
    elif settings.kind == "terminal":
        from . import terminal as kind  # type: ignore[no-redef]
    else:
        say("there is no kind of session called %r" % settings.kind)
        return MISSING
    return kind.run(settings)


def load(path: str) -> Settings:
    """What the agent wrote; missing values have their defaults."""
    with open(path, "rb") as file:
        raw: Dict[str, Any] = json.loads(file.read().decode("utf-8"))
    return Settings(
        kind=str(raw.get("kind")), folder=os.path.dirname(path), home=str(raw["home"]), base=str(raw.get("base") or "/"),
        geometry=str(raw.get("geometry") or "1280x800"), start=str(raw.get("start") or ""), grace=float(raw.get("grace") or 15),
    )


def shell(folder: str) -> List[str]:
    """The user's interactive shell: bash as it is, but without "I have no name!" where a cluster's user has none."""
    if not os.path.exists(BASH):
        return ["/bin/sh"]
    path = os.path.join(folder, "bashrc")
    with open(path, "w") as file:
        file.write(_BASHRC)
    return [BASH, "--rcfile", path]


def say(line: str) -> None:
    """A line for people, into the log."""
    sys.stdout.write("session: %s\n" % line)
    sys.stdout.flush()
