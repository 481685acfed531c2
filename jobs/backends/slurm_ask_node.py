"""Runs on one node for a look at its software: a few scripts, one after the other, and what each prints. Python 3.6.

The one idea: it is sent as text like slurm_node.py, runs in a folder that goes, and lets no script live past its time.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

MOST = 65536  # bytes of an answer


def main(told):
    """Prints the answers as one line of JSON."""
    end = time.time() + told["budget"]
    environment = dict(os.environ, **told["environment"])
    with tempfile.TemporaryDirectory() as folder:
        environment.update(HOME=folder, TMPDIR=folder)
        answers = [said(script, folder, environment, min(told["seconds"], end - time.time())) for script in told["scripts"]]
    sys.stdout.write(json.dumps(answers) + "\n")
    return 0


def said(script, folder, environment, seconds):
    """What one script prints on both streams; what came until its time was over."""
    if seconds <= 0:
        return ""
    with tempfile.TemporaryFile(dir=folder) as out:
        words = ["bash", "-c", "ulimit -f 16384; " + script]  # an endless answer fills no disk
        process = subprocess.Popen(
            words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        out.seek(0)
        return out.read(MOST).decode("utf-8", "replace")
