"""Stories of commands: how they end, what they leave behind, what a stop reaches, what a restart of the portal does to them."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from tests.e2e.promises import budgets_agree, nothing_left
from tests.e2e.real_portal import alive, until


@pytest.fixture(scope="module", autouse=True)
def too_long(engineer):
    """Runs beside the other tests' jobs: a minute is the shortest walltime."""
    return engineer.submit("echo on; sleep 1000", "too long", hardware={"walltime": 1 / 60})


def test_programs_left_in_the_background_end_with_the_command(engineer):
    left = engineer.submit("sleep 600 & echo main-done; exit 0", "left behind")
    hidden = engineer.submit("nohup sleep 600 >/dev/null 2>&1 & exit 0", "left behind without output")
    session = engineer.submit("setsid --fork sleep 600; echo main-done", "left behind in a session of its own")
    for work in (left, hidden, session):
        assert work.ends()["headraceStatus"] == "Completed"
        assert any("leftover process" in detail for *_, detail in work.events)
    assert b"main-done" in left.log()
    nothing_left([left, hidden, session])


def test_stop_reaches_what_ignores_sigterm(engineer):
    engineer.portal.run("Software.objects.filter(code='shell').update(grace=3)")
    script = b"bash -c \"trap '' TERM; while :; do date >> beat.txt; sleep 0.2; done\" & wait\n"
    work = engineer.submit("bash s.sh", "deaf", inputs=[engineer.upload("s.sh", script)])
    work.reaches("Running Job")
    until(lambda: (work.folder / "beat.txt").exists())
    processes = work.processes
    assert work.stop() == 202
    seen = set()
    until(lambda: seen.add(work.status) or work.status == "Stopped")
    engineer.portal.run("Software.objects.filter(code='shell').update(grace=60)")
    assert "Stopping Cluster" in seen
    assert not [pid for pid in processes if alive(pid)]
    nothing_left([work])


def test_a_program_that_saves_and_exits_with_0_on_stop_is_stopped(engineer):
    work = engineer.submit('trap "echo saved; exit 0" TERM; echo ready; sleep 1000 & wait', "saves")
    work.says(b"ready")
    work.stop()
    end = work.ends()
    assert (end["headraceStatus"], end["exitCode"], end["reason"]) == ("Stopped", 0, "stopped")
    assert b"saved" in work.log()
    nothing_left([work])


def test_a_shell_that_is_killed_by_its_own_command_ends_as_signal_9(engineer):
    itself = engineer.submit("echo start; kill -9 $$; echo never", "kills itself")
    parent = engineer.submit('python3 -c "import os; os.kill(os.getppid(), 9)"; sleep 300', "kills its parent")
    for work in (itself, parent):
        end = work.ends()
        assert (end["headraceStatus"], end["reason"], end["signal"]) == ("Failed", "signal", 9)
    assert itself.log() == b"start\n"
    nothing_left([itself, parent])


def test_restarts_of_worker_and_web_do_not_touch_running_jobs(battered_portal):
    portal = battered_portal
    until(portal.answers)
    work = portal.engineer.submit("for i in $(seq 90); do echo $i; sleep 0.1; done", "counts")
    for name in ("worker", "web"):
        before = len(work.says(b"\n").splitlines())
        until(lambda before=before: _more_lines(work, before + 10))
        old = portal.kill(name, signal.SIGTERM)
        until(lambda old=old, name=name: portal.pid(name) != old)
        until(portal.answers)
    assert work.ends()["headraceStatus"] == "Completed"
    assert work.log() == b"".join(b"%d\n" % i for i in range(1, 91))
    nothing_left([work])


def _more_lines(work, count):
    return len(work.log().splitlines()) >= count


def test_many_short_jobs_leave_no_zombie_descriptor_or_process(portal, engineer):
    """The first half opens what is opened once (a database connection a thread); the second half adds nothing."""
    names = ("worker", "web")
    works = _short_jobs(engineer, 30)
    before = {name: _descriptors(portal.pid(name)) for name in names}
    works += _short_jobs(engineer, 30)
    assert _zombies(portal) == []
    until(lambda: all(_descriptors(portal.pid(name)) <= before[name] + 8 for name in names), 40)
    nothing_left(works)
    budgets_agree(portal)


def _short_jobs(engineer, count):
    """All over; every tenth was stopped at once."""
    works = [engineer.submit("true", f"short {number}") for number in range(count)]
    for work in works[::10]:
        work.stop()
    for number, work in enumerate(works):
        end = work.ends()["headraceStatus"]
        assert end == "Completed" or (number % 10 == 0 and end == "Stopped")
    return works


def _descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def _zombies(portal):
    """Dead children that worker and web have not buried."""
    parents, found = {portal.pid("worker"), portal.pid("web"), portal.up.pid}, []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if fields[0] == "Z" and int(fields[1]) in parents:
                found.append(entry.name)
    return found


@pytest.mark.parametrize("round", range(5))
def test_stop_in_each_stage_ends_in_stopped(engineer, round):
    """Five jobs, each stopped as soon as it stands in its stage (or past it: stages may be shorter than a look)."""
    stages = ["queued", "validating", "starting", "running", "stopping"]
    works = {stage: engineer.submit("sleep 1000" if stage != "stopping" else "true", f"stop while {stage}") for stage in stages}
    for stage, work in works.items():
        until(lambda work=work, stage=stage: _has_been_in(work, stage), pause=0.01)
        work.stop()
    for stage, work in works.items():
        end = work.ends()["headraceStatus"]
        assert end == "Stopped" or (stage == "stopping" and end == "Completed")
        moves = [after for before, after, *_ in work.events if before != after]
        assert "running" not in moves or "stopping" in moves
    nothing_left(list(works.values()))


def _has_been_in(work, stage):
    return any(after == stage for _, after, *_ in work.events)


def test_a_part_of_a_pipe_that_fails_fails_the_job_unless_switched_off(engineer):
    strict = engineer.submit("false | tee out.log", "pipe")
    loose = engineer.submit("false | tee out.log", "pipe without pipefail", pipefail=False)
    end = strict.ends()
    assert (end["headraceStatus"], end["exitCode"]) == ("Failed", 1)
    assert loose.ends()["headraceStatus"] == "Completed"
    assert "pipe" in end["detail"] + str(end["verdictDetail"]), "which part failed is told"


def test_a_job_that_eats_all_memory_is_ended_and_nobody_else(portal, engineer):
    portal.run(
        "local = Coretype.objects.get(code='local')\n"
        "Coretype.objects.create(code='small', name='Small', region=local.region, backend='local', cores=1, memory=1 << 30, price=local.price)"
    )
    web = portal.pid("web")
    neighbour = engineer.submit("sleep 3; echo unhurt", "neighbour")
    greedy = engineer.submit("python3 -c 'b = []\nwhile True: b.append(bytearray(50 << 20))'", "greedy", core="small")
    end = greedy.ends()
    assert end["headraceStatus"] == "Failed"
    assert end["reason"] == "out-of-memory" or "MemoryError" in greedy.log().decode(), end
    assert neighbour.ends()["headraceStatus"] == "Completed"
    assert portal.pid("web") == web
    nothing_left([greedy, neighbour])


def test_a_job_finds_no_secret_in_its_environment_nor_on_the_disk(portal, engineer):
    data = portal.data
    command = f"""env; tr '\\0' '\\n' < /proc/$PPID/environ; cat /proc/1/environ; for p in /proc/[0-9]*; do cat $p/environ; done
cat ~/.env ../../.env; cat {data}/secret_key {data}/headrace.sqlite3 ../node-0/CONFIG.json; ls {data} {data}/logs {data}/run {data}/clusters
echo looked; exit 0"""
    work = engineer.submit('eval "$LOOK"', "looks around", envVars={"LOOK": command})
    assert work.ends()["headraceStatus"] == "Completed"
    said = work.log()
    assert b"looked" in said
    for secret in ((data / "secret_key").read_bytes(), b"SQLite format", b"REDIS_URL", b"SECRET_KEY=", b'"secret"', b"DATABASE_URL=", b"HEADRACE_DATA"):
        assert secret not in said
    names = {line.partition(b"=")[0] for line in said.splitlines()[:40] if b"=" in line}
    assert b"HEADRACE_CORES" in names


def test_shell_code_in_a_name_is_text(engineer, tmp_path):
    mark = tmp_path / "pwned"
    names = [f"x'; touch {mark}; echo '", f"a$(touch {mark})", f"`touch {mark}`", "{{7*7}}", "%s%n", "<script>alert(1)</script>"]
    works = [engineer.submit("true", name) for name in names]
    for work, name in zip(works, names, strict=True):
        end = work.ends()
        assert (end["headraceStatus"], end["name"]) == ("Completed", name)
    body = {"jobanalyses": [{"analysis": {"code": "shell"}, "command": "true"}]}
    for name in ("a\n#SBATCH --qos=vip", "x" * 10_000):
        assert engineer.api.post("/jobs/", json={"name": name, **body}).status_code == 400
    assert not mark.exists()


def test_a_walltime_of_a_minute_ends_a_job_that_sleeps_on(too_long):
    end = too_long.ends(150)
    assert (end["headraceStatus"], end["reason"]) == ("Failed", "walltime")
    ran = too_long.portal.value("select (julianday(exited) - julianday(went)) * 86400 from jobs_cluster where workload_id = ?", too_long.key)
    assert ran >= 59.5
    nothing_left([too_long])
