"""Packing the agent into one file that any Python from 3.6 on can run.

The one idea: sources and, beside them, bytecode for the Python that packs, which is most often the one that runs.
"""
import hashlib
import marshal
import os
import struct
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Iterator, Tuple

_MAIN = """import sys
if sys.argv[1:2] == ["session"]:
    from headrace_agent.session.main import main
else:
    from headrace_agent.main import main
sys.exit(main(sys.argv))
"""
_WHEN = (1980, 1, 1, 0, 0, 0)  # a fixed date: the same sources give the same bytes


def build(target: Path) -> Path:
    """Writes the zipapp and returns its path. The same sources and Python give the same bytes."""
    import zipfile

    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name("%s.%d.new" % (target.name, os.getpid()))
    with open(str(unfinished), "wb") as out:
        out.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for name, data in _members():
                archive.writestr(zipfile.ZipInfo(name, _WHEN), data)
    os.chmod(str(unfinished), 0o755)
    os.replace(str(unfinished), str(target))
    return target


def _members() -> Iterator[Tuple[str, bytes]]:
    """Sources, and beside them bytecode for this Python: an archive can't cache it, and compiling costs 50 ms a start."""
    sources = {"__main__.py": _MAIN.encode()}
    here = Path(__file__).parent
    for path in here.rglob("*.py"):
        sources["headrace_agent/" + path.relative_to(here).as_posix()] = path.read_bytes()
    for name in sorted(sources):
        if name != "__main__.py":
            yield name + "c", _bytecode(name, sources[name])
        yield name, sources[name]


def _bytecode(name: str, source: bytes) -> bytes:
    """A hash-based .pyc (PEP 552) that is taken unchecked; another version of Python passes over it to the source."""
    digest = hashlib.sha256(source).digest()[:8]
    code = compile(source, name, "exec", dont_inherit=True)
    return MAGIC_NUMBER + struct.pack("<I", 1) + digest + marshal.dumps(code, 2)  # 2: no reference flags, so stable
