"""Clouds to hold against the contract, and ways to look at what they left, to wait, and to die."""

import os
import signal
import sys
import time
from pathlib import Path

from jobs.backends import local_processes as processes
from jobs.backends.fake import Fake
from jobs.backends.local import Local
from jobs.backends.slurm import Slurm

STANDIN = Path(__file__).with_name("standin_agent.py")
AS_ROOT = os.geteuid() == 0


class InMemory:
    real, shared = False, False

    def __init__(self, place):
        self._one = Fake("fake", cores=8)

    def backend(self):
        return self._one


class InFolder:
    real, shared = False, True

    def __init__(self, place):
        self._folder = str(place / "fake")

    def backend(self):
        return Fake("fake", cores=8, folder=self._folder)


class ThisMachine:
    real, shared = True, True
    options = {}

    def __init__(self, place):
        self._folder = place / "clusters"

    def backend(self):
        return Local("local", folder=self._folder, cores=8, **self.options)


class WithoutCgroups(ThisMachine):
    options = {"cgroups": False}


class WithoutWalls(ThisMachine):
    options = {"sandboxes": ["none"]}


class OnSlurm:
    """Real daemons; `daemons` is set by the fixture that started them."""

    real, shared = True, True
    daemons = None

    def __init__(self, place):
        self._place = place

    def backend(self, **options):
        options = {"folder": str(self._place / "jobs"), "config": str(self.daemons.config), **options}
        return Slurm("slurm", notes=self._place / "notes", **options)


KINDS = [InMemory, InFolder, ThisMachine, WithoutCgroups, WithoutWalls, OnSlurm]


def destroy(backend, token):
    """As often as it takes."""
    return eventually(lambda: backend.destroy(token))


def eventually(question, seconds=20):
    """Ask until the answer is true, and return it; the answer at the deadline if it never was."""
    deadline = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return answer


def carrying(token):
    carries = processes.carries(token)
    return [pid for pid in processes.pids() if carries(pid) and processes.start_time(pid)]


def agents(backend, token):
    """Pids noted by agents that live, by node."""
    folder = backend._folders.path(token)
    living = [node for node in sorted(folder.glob("node-*")) if processes.alive(node / "holder.pid")]
    return {node.name: int((node / "holder.pid").read_text().split()[0]) for node in living}


def leftovers(backend, token):
    """Whatever still reminds of a cluster on this machine."""
    home = backend._folders.home
    names = [str(path) for path in home.rglob("*") if token in path.name]
    cgroups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/headrace-*/{token}")]
    cgroups += [str(path) for path in Path("/sys/fs/cgroup").glob(f"headrace-*/{token}")]
    links = [f"uid {uid}" for uid, owner in backend._uids._taken().items() if owner.name == token]
    return names + cgroups + links + [f"process {pid}" for pid in carrying(token)]


def in_child(act):
    """Run it in a process of its own; returns its pid."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            act()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"in the child: {error!r}\n".encode())
        finally:
            os._exit(1)
    return pid


def ended_with(pid):
    """Exit code of a child, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


ACTS = {"os.mkdir", "os.rename", "os.chmod", "os.chown", "os.symlink", "os.remove", "os.rmdir", "subprocess.Popen", "fcntl.flock", "open"}


def die_before(number, act):
    """Run it in a process that is killed hard right before its act of that number on the outside world.

    Acts are found by Python's audit events. Returns False once the process came to its end before.
    """

    def doomed():
        left = number

        def hook(event, arguments):
            nonlocal left
            if event in ACTS and not (event == "open" and _only_reads(arguments)):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        act()

    return ended_with(in_child(doomed)) == -signal.SIGKILL


def _only_reads(arguments):
    flags = arguments[2]
    return not (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
