"""Runs on every node of a Slurm job: makes the folders, starts the agent, and clears up after it. Python 3.6 and up.

The one idea: everything it needs, the agent and the secret too, comes through its standard input, so that nothing of it is
ever a word of a command line, and the secret never lies on a disk. It is sent as text and run by `python3 -c`.
"""

import base64
import contextlib
import ctypes
import json
import os
import shutil
import signal
import stat
import sys
import zlib

EXITS = {
    2: "The agent could not be started: is there a Python 3.6 or newer on the nodes? (option python)",
    71: "The job's folder could not be made on a node (option folder)",
    72: "The Python of the nodes is too old: 3.6 or newer is needed (option python)",
    73: "Slurm started the job a second time; a command is never started twice",
}
"""Exit codes of the job, and what they mean."""
OF_A_STEP = (
    "SLURM_STEP", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_GTIDS", "SLURM_TASK_PID", "SLURM_LAUNCH", "SLURM_SRUN", "SLURM_CPU_BIND",
    "SLURM_MEM_BIND", "SLURM_DISTRIBUTION", "SLURM_UMASK", "SLURM_PRIO", "SLURM_OVERLAP", "SLURM_KILL_BAD_EXIT", "SLURM_MPI_TYPE",
    "SLURM_EXPORT_ENV", "SLURM_TIME_FORMAT", "SLURM_CPUS_PER_TASK", "SLURM_NTASKS_PER_NODE", "SLURM_WAIT", "SLURM_NODEID",
)  # fmt: skip
"""Variables of the step in which the agents run, which the command must not take for those of its job."""
DEVICES = ("CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GPU_DEVICE_ORDINAL")


def main(told):
    """The exit code. `told` is what the backend sent (slurm_script.payload)."""
    node = int(os.environ["SLURM_PROCID"])
    place = os.path.join(told["folder"], told["token"])
    base = os.path.join(place, os.environ["SLURM_JOB_ID"])  # a second job of this name must not touch what the first one has
    parents = [base, place]
    if not told["shared"]:
        base = os.path.join(base, str(node))
        parents.insert(0, base)
    try:
        for folder in [told["folder"]] + parents[::-1]:
            own(folder)
        config, mine = set_up(told, node, base)
    except OSError as error:
        sys.stderr.write(f"headrace: {error}\n")
        return 71
    code = live(told, config)
    if code == 0:
        clear(mine, parents)
    return code


def own(folder):
    """A folder of ours that nobody else reads, made if it is not there. In /tmp somebody may have been faster."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        os.makedirs(folder, 0o700, exist_ok=True)
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise OSError(f"{folder} is not a folder of ours")


def set_up(told, node, base):
    """The agent's start values, and the folders that this node clears away at the end."""
    folder = os.path.join(base, "node-" + str(node))
    own(folder)
    write(os.path.join(folder, "agent.pyz"), zlib.decompress(base64.b64decode(told["agent"])))
    config = dict(told["config"], node=node, folder=folder, workdir=os.path.join(base, "work"), tmp=os.path.join(base, "tmp"))
    if told["ca"]:
        config["ca"] = os.path.join(folder, "ca.pem")
        write(config["ca"], told["ca"].encode("utf-8"))
    config["hostname"] = os.environ.get("SLURMD_NODENAME") or os.uname().nodename
    config["environment"] = dict(of_the_job(os.environ, config["nodes"], config["cores"]), **told["environment"])
    shared = [config["workdir"], config["tmp"]] if node == 0 or not told["shared"] else []
    return config, [folder] + shared


def of_the_job(found, nodes, cores):
    """What a command wants to know of its job: mpirun and srun find nodes and slots by these."""
    kept = {name: value for name, value in found.items() if name.startswith("SLURM") and not name.startswith(OF_A_STEP)}
    kept.update({name: found[name] for name in DEVICES if name in found})
    slots = str(cores) if nodes == 1 else str(cores) + "(x" + str(nodes) + ")"
    total = str(nodes * cores)
    kept.update(SLURM_NTASKS=total, SLURM_NPROCS=total, SLURM_TASKS_PER_NODE=slots, SLURM_NNODES=str(nodes), SLURM_NODEID="0")
    return kept


def live(told, config):
    """Starts the agent, its start values in a pipe, and waits for it. Slurm's signals are for the agent, which ends with us:
    where Slurm knows processes by their parents, an orphan would escape it."""
    reading, writing = os.pipe()
    os.write(writing, json.dumps(config).encode("ascii"))  # far less than a pipe holds
    os.close(writing)
    os.set_inheritable(reading, True)
    words = [sys.executable, "-I", "-S", os.path.join(config["folder"], "agent.pyz"), "/dev/fd/" + str(reading)]
    kept = ("PATH", "LANG", "SLURM_CONF")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment["HEADRACE_TOKEN"] = told["token"]
    heed(signal.SIG_IGN)
    us = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            heed(signal.SIG_DFL)
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, kept by exec
            if os.getppid() == us:
                os.execve(sys.executable, words, environment)
        finally:
            os._exit(2)
    status = os.waitpid(pid, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1


def heed(handler):
    """What asks for an end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, handler)


def clear(folders, parents):
    """The agent was let go: nothing is needed any more."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for folder in parents:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def write(path, data):
    """A file that only its owner reads."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
