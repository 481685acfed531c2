"""Starting the command: its script, its environment, and the child between fork and exec.

The one idea: the child waits at a gate until the durable mark is on disk, so no command ever ran without one.
"""
import contextlib
import os
import pwd
import shutil
import signal
from typing import Any, Dict, List, NamedTuple, Optional

from . import sandbox, tree
from .config import Config
from .folder import Folder

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PIPE = ".pipestatus"
_LONGEST_WORD = 120000  # bytes; the kernel takes 128 KB


class Child(NamedTuple):
    """A process behind its gate: write a byte to `gate` to let it go, close it to end it."""

    pid: int
    starttime: int
    gate: int


def script(spec: Dict[str, Any], config: Config) -> str:
    """The shell text: the user's lines, and before them on the same line a trap that notes the parts of the last pipe."""
    target = _quoted(os.path.join(config.tmp, _PIPE))
    trap = "trap '{ echo \"${PIPESTATUS[@]}\" >| %s; } 2>/dev/null' EXIT; " % target.replace("'", "'\\''")
    return trap + "\n".join(spec["commands"])


def argv(spec: Dict[str, Any], text: str, config: Config) -> List[str]:
    """What is run: the backend's wrap, then bash.

    The user's variables pass through a wrap as words of `env`: a LD_PRELOAD must not reach what builds the sandbox.
    """
    bash = [_found("bash")] + (["-o", "pipefail"] if spec.get("pipefail", True) else []) + _script_words(text, config)
    if not config.wrap:
        return bash
    users = ["%s=%s" % pair for pair in _users(spec).items()]
    return [_found(config.wrap[0])] + config.wrap[1:] + [_found("env")] + users + bash


def _script_words(text: str, config: Config) -> List[str]:
    """The script as a word, or as a file where it is longer than a word may be."""
    data = text.encode("utf-8", "surrogateescape")
    if len(data) < _LONGEST_WORD:
        return ["-c", text]
    folder = Folder(config.tmp, config.run_as)
    with os.fdopen(folder.create(b".script", 0o600), "wb") as file:
        file.write(data)
    folder.close()
    return [os.path.join(config.tmp, ".script")]


def environment(spec: Dict[str, Any], config: Config, hosts: List[str]) -> Dict[str, str]:
    """All that the command finds in its environment: nothing of the agent's own, but what the backend wants it to know."""
    values = {
        "PATH": _PATH, "HOME": config.workdir, "TMPDIR": config.tmp, "LANG": "C.UTF-8",
        "USER": _user(config), "OMP_NUM_THREADS": str(config.cores),
    }
    values.update(config.environment)
    if not config.wrap:
        values.update(_users(spec))
    values.update({
        "HEADRACE_TOKEN": config.token, "HEADRACE_JOB_DIR": config.workdir, "HEADRACE_CORES": str(config.cores),
        "HEADRACE_NODES": str(config.nodes), "HEADRACE_HOSTS": ",".join(hosts),
    })
    return values


def spawn(words: List[str], env: Dict[str, str], output: int, config: Config) -> Child:
    """Forks the child and leaves it at its gate; `output` becomes its stdout and stderr."""
    behind, gate = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(gate)
        _child(words, env, output, behind, config)
    os.close(behind)
    process = tree.look(pid)
    return Child(pid, process.starttime if process else 0, gate)


def pipe_codes(spec: Dict[str, Any], config: Config, code: Optional[int]) -> Optional[List[int]]:
    """The codes of the last pipeline's parts, if there was one and it explains the exit code."""
    codes = _noted(os.path.join(config.tmp, _PIPE))
    if len(codes) < 2 or code is None:
        return None
    failed = [value for value in codes if value]
    told = (failed or [0])[-1] if spec.get("pipefail", True) else codes[-1]
    return codes if told == code else None


def _child(words: List[str], env: Dict[str, str], output: int, behind: int, config: Config) -> None:
    """Never returns: execs, or says on its output why it could not and exits 126."""
    try:
        os.setsid()
        _plumb(output)
        if os.read(behind, 1) != b"g":
            os._exit(125)
        sandbox.close_others(())
        _wall_in(config)
        os.execve(words[0], [word.encode("utf-8", "surrogateescape") for word in words], _encoded(env))
    except BaseException as error:  # whatever it is, this process must not go on as an agent
        os.write(2, ("headrace: the command could not be started: %s\n" % error).encode("utf-8", "replace"))
    finally:
        os._exit(126)


def _plumb(output: int) -> None:
    """stdin is empty, stdout and stderr are the same open file; signals are as a fresh process has them."""
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    signal.set_wakeup_fd(-1)
    for number in range(1, signal.NSIG):
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            signal.signal(number, signal.SIG_DFL)


def _wall_in(config: Config) -> None:
    os.umask(0o022)
    sandbox.enter_cgroups(config.cgroups)
    sandbox.expect_to_be_killed_first()
    sandbox.limit(config.rlimits)
    if config.run_as:
        sandbox.drop_to(*config.run_as)
    os.chdir(config.workdir)
    if not config.wrap:  # a wrap may need its own rights to build what it builds
        sandbox.no_new_privileges()
    sandbox.die_with_parent(signal.SIGKILL)
    if config.landlock:
        rw = list(config.landlock.get("rw", [])) + [config.tmp, "/dev/null"]
        sandbox.landlock(rw, config.landlock.get("ro", []))


def _users(spec: Dict[str, Any]) -> Dict[str, str]:
    """The user's variables that can be one, and are not ours."""
    given = {str(key): str(value) for key, value in (spec.get("environment") or {}).items()}
    return {
        key: value for key, value in given.items()
        if key and "=" not in key and "\0" not in key + value and not key.startswith("HEADRACE_")
    }


def _found(program: str) -> str:
    """Never looked up on the user's PATH."""
    return shutil.which(program, path=_PATH) or program


def _encoded(env: Dict[str, str]) -> Dict[bytes, bytes]:
    return {key.encode("utf-8", "surrogateescape"): value.encode("utf-8", "surrogateescape") for key, value in env.items()}


def _quoted(path: str) -> str:
    return '"%s"' % "".join("\\" + char if char in '\\"$`' else char for char in path)


def _user(config: Config) -> str:
    try:
        return pwd.getpwuid(config.run_as[0] if config.run_as else os.getuid()).pw_name
    except KeyError:
        return "headrace"


def _noted(path: str) -> List[int]:
    """The command could write anything there: only a short plain file of small numbers counts."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return [int(word) for word in os.read(fd, 4096).split() if 0 <= int(word) <= 255]
        finally:
            os.close(fd)
    except (OSError, ValueError):
        return []
