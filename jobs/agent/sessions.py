"""What a workstation's node gets before its session starts: the session's own program, and what it shall be.

The one idea: a session is a command like any other. Its shell text looks for a Python that the session's user may run,
which need not be the agent's, and becomes the session's first process.
"""
import json
import os
import shlex
import shutil
import sys
from contextlib import suppress
from typing import Any, Dict, Iterator

from .config import Config
from .doors import FOLDER
from .folder import Folder

SERVICE = {"desktop": "desktop", "terminal": "terminal", "jupyter": "app"}  # what a kind of session offers
MACHINERY = ("Xtigervnc", "Xvnc")  # processes that the end of a session asks last: programs may need the display to save
_PROGRAM, _SETTINGS = b"session.pyz", FOLDER + b"/settings.json"
_PYTHONS = ("/usr/bin/python3", "python3", "/usr/local/bin/python3", "/usr/libexec/platform-python")
_TEXT = """for python in {pythons}; do
  "$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null && exec "$python" -I -S {program} session {settings}
done
echo "session: this node has no Python from 3.6 on that the session's user can run"
exit 127"""


def prepared(spec: Dict[str, Any], config: Config) -> Dict[str, Any]:
    """The spec with the command that becomes the session, and with its home as an input. The same each time."""
    session = spec.get("session")
    if not session:
        return spec
    made = dict(spec, commands=[_text(config)], pipefail=False)
    home = session.get("home")
    made["inputs"] = [dict(home, id="home-%s" % home["copy"], name="home", home=True)] if home else []
    return made


def place(config: Config, spec: Dict[str, Any]) -> None:
    """Puts program and settings where the session finds them; may be repeated. Raises OSError or Refused."""
    session = spec["session"]
    settings = {key: session.get(key) for key in ("kind", "base", "geometry", "start")}
    settings.update(home=config.workdir, grace=spec.get("grace"))
    folder = Folder(config.tmp, config.run_as)
    try:
        folder.make(FOLDER, 0o700)
        with os.fdopen(folder.create(_SETTINGS, 0o600), "wb") as file:
            file.write(json.dumps(settings).encode("ascii"))
        with os.fdopen(folder.create(_PROGRAM, 0o644), "wb") as target:
            _copy_program(target)
    finally:
        folder.close()
    _own_x_folder(config)


def _copy_program(target: Any) -> None:
    """This very program; it holds no secret."""
    archive = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(archive, "rb") as source:
        shutil.copyfileobj(source, target)


def _own_x_folder(config: Config) -> None:
    """Made by root, so that no session owns the folder in which another's X socket lies."""
    if config.run_as and os.getuid() == 0:
        with suppress(OSError):
            os.mkdir("/tmp/.X11-unix", 0o1777)
            os.chmod("/tmp/.X11-unix", 0o1777)


def _text(config: Config) -> str:
    paths = (os.path.join(config.tmp, os.fsdecode(name)) for name in (_PROGRAM, _SETTINGS))
    program, settings = (shlex.quote(path) for path in paths)
    return _TEXT.format(pythons=" ".join(_pythons()), program=program, settings=settings)


def _pythons() -> Iterator[str]:
    """The agent's own first."""
    yield shlex.quote(os.path.realpath(sys.executable))
    for path in _PYTHONS:
        yield path
