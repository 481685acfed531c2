"""Work in the home of a workstation's user, done by a child that has no more rights than this user.

The one idea: whatever lies in a home, nothing can be reached through it that its user could not reach anyway.
"""
import errno
import json
import os
from typing import Any, Callable, Dict

from . import sandbox
from .config import Config

_WORDS = {
    errno.ELOOP: "a link is in its way", errno.ENOTDIR: "a link or a file is where its folder should be",
    errno.ENOSPC: "the home's disk is full", errno.EDQUOT: "the home's disk is full",
}


def done(config: Config, work: Callable[[], Dict[str, Any]], keep: int) -> Dict[str, Any]:
    """What work() gave in the child, or {"error": words}. `keep`: the one descriptor that it needs beside its own."""
    out, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(config, work, keep, told)
    os.close(told)
    with os.fdopen(out, "rb") as file:
        heard = file.read()
    os.waitpid(pid, 0)
    return json.loads(heard.decode("ascii")) if heard else {"error": "the process that worked in it died"}


def _child(config: Config, work: Callable[[], Dict[str, Any]], keep: int, told: int) -> None:
    """Never returns."""
    answer: Dict[str, Any] = {}
    try:
        sandbox.die_with_parent(9)
        sandbox.close_others((keep, told))
        os.umask(0o077)
        if config.run_as:
            sandbox.drop_to(*config.run_as)
        sandbox.no_new_privileges()
        if sandbox.landlock_available():
            sandbox.landlock([config.workdir], [])
        answer = work()
    except BaseException as error:
        words = _WORDS.get(getattr(error, "errno", None) or 0)
        answer = {"error": words or "%s" % (getattr(error, "strerror", None) or error or type(error).__name__)}
    finally:
        os.write(told, json.dumps(answer).encode("ascii"))
        os._exit(0)
