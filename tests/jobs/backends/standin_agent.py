"""Stands in for the agent in tests of backends: goes into the background, notes itself, and stays.

It notes what it found in `seen.json`. A file beside this one with the ending .sh is run as the job would be, walls
included, in the head only. Standard library only; it is started as a copy, outside of the repository.
"""

import json
import os
import resource
import subprocess
import sys
import time


def read(path):
    with open(path) as file:
        return file.read()


config = json.loads(read(sys.argv[1]))
folder = config["folder"]


def wall_in():
    for place in config["cgroups"]:
        with open(os.path.join(place, "cgroup.procs"), "w") as file:
            file.write(str(os.getpid()))
    for name, value in config["rlimits"].items():
        resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (value, value))
    if config["run_as"]:
        os.setgroups([])
        os.setgid(config["run_as"]["gid"])
        os.setuid(config["run_as"]["uid"])


def as_job(text):
    environment = {"PATH": os.environ["PATH"], "HEADRACE_TOKEN": config["token"], "HOME": config["workdir"], "TMPDIR": config["tmp"]}
    words = [*(config["wrap"] or []), "/bin/sh", "-c", text]
    return subprocess.Popen(words, cwd=config["workdir"], env=environment, preexec_fn=wall_in, start_new_session=True)


def note():
    seen = {"environment": dict(os.environ), "session": os.getsid(0), "cwd": os.getcwd(), "open": sorted(os.listdir("/proc/self/fd"))}
    with open(os.path.join(folder, "seen.json"), "w") as file:
        json.dump(seen, file)
    started = read("/proc/self/stat").rpartition(")")[2].split()[19]
    with open(os.path.join(folder, "holder.pid.new"), "w") as file:
        file.write(f"{os.getpid()} {started}")
    os.rename(os.path.join(folder, "holder.pid.new"), os.path.join(folder, "holder.pid"))


if not config["foreground"]:
    if os.fork():
        os._exit(0)
    os.setsid()
note()
script = os.path.splitext(sys.argv[0])[0] + ".sh"
if config["node"] == 0 and os.path.exists(script):
    as_job(read(script)).wait()
if os.path.exists(os.path.splitext(sys.argv[0])[0] + ".exit"):
    print("nothing to do here", flush=True)
    sys.exit(1)
time.sleep(600)
