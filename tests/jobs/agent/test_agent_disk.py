"""A disk that is full, on the node."""

import hashlib
import subprocess

import pytest


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 8 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_inputs_that_do_not_fit_fail_the_staging(small_disk, make_agent, portal, until):
    data = bytes(20 << 20)
    portal.inputs["a1"] = data
    portal.spec["inputs"] = [{"id": "a1", "name": "big", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
    agent = make_agent("small")
    agent.start()
    error = until(lambda: portal.last("staged"))["error"]
    assert error == {"file": "big", "message": "the node's disk is full"}


def test_command_that_fills_the_disk_has_its_results_saved(small_disk, make_agent, portal):
    agent = make_agent("small")
    exit = agent.run("echo before; echo x > a; cat /dev/zero > big; echo $? > code; echo after; exit 3", seconds=40)
    assert (exit["code"], exit["why"], exit["disk_full"]) == (3, None, True)
    assert portal.log().startswith(b"before\n")
    assert portal.files["a"] == b"x\n"
    assert len(portal.files["big"]) > 6 << 20
    done = portal.last("done")
    assert (done["files"], done["failed"]) == (3, 0)
