"""Walls around the command, put up by the child itself between fork and exec.

The one idea: each wall is a plain function of numbers and paths, needs no library beside libc, and fails loudly.
"""
import contextlib
import ctypes
import os
import resource
import stat
import struct
from typing import Iterable, List, Mapping, Tuple

_PDEATHSIG, _SUBREAPER, _NO_NEW_PRIVS = 1, 36, 38  # linux/prctl.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_PATH_BENEATH = 1
_READ = 1 << 0 | 1 << 2 | 1 << 3  # execute, read file, read folder (linux/landlock.h)
_FILE_ONLY = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}  # how many of the file system rights this ABI knows; 5 and up: 16

_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Orphans of the command become children of this process; raises OSError."""
    _prctl(_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """This process gets the signal when its parent dies."""
    _prctl(_PDEATHSIG, number)


def no_new_privileges() -> None:
    """No setuid program gives anything to what is run from here."""
    _prctl(_NO_NEW_PRIVS, 1)


def drop_to(uid: int, gid: int) -> None:
    """Becomes another user for good, without any other group."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def enter_cgroups(folders: Iterable[str]) -> None:
    """Moves this process into each; raises OSError."""
    for folder in folders:
        path = os.path.join(folder, "cgroup.procs")
        with open(path if os.path.exists(path) else os.path.join(folder, "tasks"), "w") as file:
            file.write(str(os.getpid()))


def limit(rlimits: Mapping[str, int]) -> None:
    """Sets limits by their short names ("as", "nproc"); core dumps are off unless asked for."""
    for name, value in dict({"core": 0}, **rlimits).items():
        which = getattr(resource, "RLIMIT_" + name.upper())
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))


def expect_to_be_killed_first() -> None:
    """When memory ends the kernel takes the command rather than the agent."""
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
    except OSError:
        pass


def landlock_available() -> bool:
    """Whether this kernel can fence a process in by Landlock."""
    return _landlock_abi() >= 1


def landlock(rw: Iterable[str], ro: Iterable[str]) -> None:
    """From here on only these paths can be reached; a path that does not exist is passed over. Raises OSError."""
    abi = _landlock_abi()
    if abi < 1:
        raise OSError(0, "this kernel has no Landlock")
    everything = (1 << _RIGHTS_BY_ABI.get(abi, 16)) - 1
    ruleset = _call(_CREATE_RULESET, ctypes.c_char_p(struct.pack("=Q", everything)), ctypes.c_size_t(8), 0)
    try:
        for path, rights in _rules(rw, ro, everything):
            _allow(ruleset, path, rights)
        no_new_privileges()
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def close_others(keep: Iterable[int]) -> None:
    """Closes every descriptor above 2 but those named."""
    kept = set(keep)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _rules(rw: Iterable[str], ro: Iterable[str], everything: int) -> List[Tuple[str, int]]:
    return [(path, everything) for path in rw] + [(path, _READ & everything) for path in ro]


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, getattr(os, "O_PATH", 0o10000000) | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE_ONLY
        rule = ctypes.c_char_p(struct.pack("=Qi", rights, fd))
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


def _landlock_abi() -> int:
    return int(_libc.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(1)))


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
