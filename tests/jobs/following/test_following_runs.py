"""A running job's own output becomes progress, a chart and an alarm; killed and started again, to the same."""

import os
import signal

import pytest

from jobs import following, logs
from jobs.models import Workload

BAR = ("calculix-plastic-bar", "calculix", "ccx -i bar > bar.log")
STREAMS = ("bar.sta", "bar.cvg")


def halves(data: bytes) -> tuple[bytes, bytes]:
    return data[: len(data) // 2], data[len(data) // 2 :]


@pytest.fixture
def bar(start):
    return start(*BAR)


def test_progress_and_residuals_come_with_the_output(bar):
    for name in STREAMS:
        bar.write(name, halves(bar.recorded(name))[0])
    assert bar.follow() == 1
    first = bar.progress
    assert first["step"] == 1
    assert "increment" in first["text"]
    assert {one["name"] for one in first["series"]} == {"residual force (%)", "correction (%)"}
    for name in STREAMS:
        bar.write(name, halves(bar.recorded(name))[1])
    assert bar.follow() == 1
    assert bar.progress["text"] == "step 1, increment 6"
    assert bar.progress["points"] > first["points"]
    assert [len(one["points"]) for one in logs.chart(bar.directory)] == [13, 13]


def test_nothing_new_is_not_told_again(bar):
    bar.write("bar.sta", bar.recorded("bar.sta"))
    bar.follow()
    version = Workload.objects.get(pk=bar.work.pk).version
    assert bar.follow() == 0
    bar.write("bar.sta", b"\n")
    assert bar.follow() == 0
    assert Workload.objects.get(pk=bar.work.pk).version == version


def test_the_engine_is_not_woken_by_progress(bar):
    due = Workload.objects.get(pk=bar.work.pk).due
    bar.write("bar.sta", bar.recorded("bar.sta"))
    assert bar.follow() == 1
    assert Workload.objects.get(pk=bar.work.pk).due == due


def kill_the_child() -> None:
    process = following.children.all[0].process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def forget_everything() -> None:
    """As a worker that has just been started."""
    following.children.end()
    following._seen.clear()


def undisturbed() -> None:
    """Nothing happens."""


@pytest.mark.parametrize("between", [undisturbed, kill_the_child, forget_everything])
def test_after_a_kill_the_chart_is_the_same(start, between):
    """Pieces of 97 bytes, so that every kind of cut comes up: within a line, a number, a stream."""
    found = []
    for disturb in (undisturbed, between):
        run = start(*BAR)
        data = {name: run.recorded(name) for name in STREAMS}
        for at in range(0, max(map(len, data.values())), 97):
            for name in STREAMS:
                run.write(name, data[name][at : at + 97])
            run.follow()
            if at % 5 == 0:
                disturb()
        found.append((logs.chart(run.directory), {name: value for name, value in run.progress.items() if name != "at"}))
        run.to_the_end()
    assert found[0] == found[1]
    assert found[0][0][0]["points"]


def test_a_new_generation_of_a_stream_begins_anew(bar):
    data = bar.recorded("bar.cvg")
    bar.write("bar.cvg", data)
    bar.follow()
    bar.write("bar.cvg", data[: len(data) // 2], generation=1)
    bar.follow()
    assert 0 < len(logs.chart(bar.directory)[0]["points"]) < 13


def test_a_gap_breaks_the_number_that_it_cuts_and_nothing_else(bar):
    data = bar.recorded("bar.cvg")
    middle = data.rindex(b"\n", 0, 900) - 20
    bar.write("bar.cvg", data[:middle])
    logs.gap(bar.directory, "bar.cvg", 0, middle, middle + 5, "disk full")
    bar.write("bar.cvg", data[middle + 5 :])
    bar.follow()
    points = len(logs.chart(bar.directory)[0]["points"])
    assert points in (12, 13)


def test_a_job_that_ends_is_read_to_its_end_before_it_is_judged(bar):
    for name in STREAMS:
        bar.write(name, halves(bar.recorded(name))[0])
    bar.follow()
    for name in STREAMS:
        bar.write(name, halves(bar.recorded(name))[1])
    work = bar.to_the_end(code=0)
    assert work.status == "completed"
    assert bar.progress["complete"]
    assert len(logs.chart(bar.directory)[0]["points"]) == 13
    assert bar.follow() == 0


def test_of_a_shell_job_nothing_is_said(start):
    run = start("calculix-plastic-bar", "shell", "bash run.sh")
    run.write("stdout", b"step 1\n" * 1000)
    assert run.follow() == 0
    assert run.progress == {}


def test_a_plain_command_that_tells_how_far_it_is_is_followed(start):
    run = start("calculix-plastic-bar", "mpi", "mpirun -np 2 ./program")
    run.write("stdout", b"".join(b"Iteration %d of 40: residual = %g\n" % (at, 0.5**at) for at in range(1, 15)))
    assert run.follow() == 1
    assert (run.progress["text"], run.progress["percent"], run.progress["alarm"]) == ("iteration 14 of 40", 35, None)
    assert [one["name"] for one in run.progress["series"]] == ["residual"]


def test_the_agent_is_told_which_files_the_command_writes(bar):
    from jobs import gateway

    spec = gateway._spec(bar.agents[0])
    assert spec["streams"] == {"stdout": None, "bar.sta": "bar.sta", "bar.cvg": "bar.cvg", "bar.log": "bar.log"}


def test_files_outside_the_job_folder_are_not_followed(start):
    run = start("calculix-plastic-bar", "calculix", "ccx -i ../other/bar > /etc/log")
    assert run.job.streams == {}
