"""What an admin asks of a Slurm cluster, carried out by the engine: a look, and a trial job; each trouble in words."""

import sys
from datetime import timedelta

import factories
import pytest
from django.conf import settings as live

from jobs import requests, rounds, surveying
from jobs.models import Installation, Request, Stray, Turn
from tests.jobs.backends.slurm_programs import Programs, full

pytestmark = pytest.mark.django_db

KINDS = "main|64|256000|20|1-00:00:00|(null)\ngpu|32|512000|2|infinite|gpu:a100:4(S:0-1)\n"
CONFIG = "ClusterName             = wave\nAccountingStorageType   = accounting_storage/none\nMinJobAge               = 300 sec\nPrivateData             = none\n"
WANTED = {"cores": 2, "memory": 1 << 30, "options": {"partition": "main"}, "title": "main"}


@pytest.fixture
def boss():
    return factories.user("boss", is_staff=True)


@pytest.fixture
def programs(tmp_path, settings):
    made = Programs(tmp_path, sys.executable)
    made.tell("sinfo", version="slurm 22.05.8\n", says=KINDS)
    made.tell("scontrol", says=CONFIG)
    options = {"notes": str(tmp_path / "notes"), "path": str(made.folder), "folder": str(tmp_path / "jobs"), "timeout": 5}
    settings.BACKENDS = live.BACKENDS | {"slurm": {"BACKEND": "jobs.backends.slurm.Slurm", "OPTIONS": options}}
    return made


def turn(clock, request, seconds=3):
    clock.forward(seconds)
    Turn.objects.update(until=None)
    requests.carry_out(clock())
    request.refresh_from_db()
    return request


def test_a_look_finds_kinds_version_and_accounting(clock, programs, boss):
    asked = turn(clock, surveying.ask_look("slurm", boss))
    assert asked.done
    found = asked.details
    assert [(kind["partition"], kind["cores"], kind["nodes"]) for kind in found["kinds"]] == [("main", 64, 20), ("gpu", 32, 2)]
    assert (found["version"], found["cluster"], found["accounting"], found["troubles"]) == ("slurm 22.05.8", "wave", False, [])
    assert any("no accounting" in note for note in found["notes"])


def test_a_second_click_is_the_same_look(programs, boss):
    assert surveying.ask_look("slurm", boss).pk == surveying.ask_look("slurm", boss).pk


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("slurm_load_partitions: Unable to contact slurm controller (connect failure)", "controller (slurmctld) does not answer"),
        ("error: If munged is up, restart with --num-threads=10\nMunge encode failed: Failed to access socket", "munge does not answer"),
        ("Could not establish a configuration source", "knows no slurm.conf"),
        ("Protocol authentication error", "does not accept this machine"),
        ("Incompatible versions of client and server code", "too old or too new"),
    ],
)
def test_what_keeps_slurm_from_answering_is_said_in_words(clock, programs, boss, said, words):
    programs.tell("sinfo", version="slurm 22.05.8\n", complains=f"sinfo: error: {said}\n", code=1)
    asked = turn(clock, surveying.ask_look("slurm", boss))
    assert asked.done
    assert words in asked.answer
    assert said.splitlines()[-1] in asked.details["troubles"][0]


def test_slurms_commands_that_are_not_there_are_named(clock, programs, boss):
    (programs.folder / "sinfo").unlink()
    surveying._slurm("slurm")._commands._environment["PATH"] = str(programs.folder)
    assert "Slurm's commands are not on this machine" in turn(clock, surveying.ask_look("slurm", boss)).answer


def test_a_slurm_that_is_too_old_a_partition_that_is_down_and_nodes_that_are(clock, programs, boss):
    programs.tell("sinfo", version="slurm 20.11.4\n", says=KINDS, states="main|up|3|down*\nmain|up|17|idle\ngpu|inact|2|idle\n")
    found = turn(clock, surveying.ask_look("slurm", boss)).details
    assert "20.11.4 is too old" in found["troubles"][0]
    assert "3 nodes of partition main are down or drained." in found["notes"]
    assert "Partition gpu is not up: jobs would wait there." in found["notes"]


def tried(clock, programs, boss, state, status=0):
    """A trial whose job Slurm shows in this state."""
    trial = surveying.ask_trial("slurm", boss, clock(), **WANTED)
    turn(clock, trial)
    assert (trial.details["stage"], trial.done) == ("asked", None)
    programs.rows(full(f"1|{trial.details['token']}|{state}|{status}|0|1|main|N/A|Resources|"))
    return turn(clock, trial)


def test_a_trial_goes_through_its_stages_and_leaves_nothing(clock, programs, boss):
    trial = tried(clock, programs, boss, "PENDING")
    assert (trial.details["stage"], trial.done) == ("waits", None)
    assert "Waits for a node in partition main" in trial.answer
    token = trial.details["token"]
    programs.rows(full(f"1|{token}|RUNNING|0|0|1|main|N/A|None|"))
    assert turn(clock, trial).details["stage"] == "runs"
    programs.rows(full(f"1|{token}|COMPLETED|0|0|1|main|N/A|None|"))
    turn(clock, trial)
    assert trial.done and trial.details["good"] is True
    assert "reaches the portal" in trial.answer
    words = programs.calls("sbatch")
    assert len(words) == 1 and f"--job-name={token}" in words[0] and "--partition=main" in words[0] and "--nodes=1" in words[0]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (71 << 8, "can't be written on the node"), (72 << 8, "Python of the nodes is too old"), (74 << 8, "can't reach the portal"),
        (75 << 8, "does not trust the portal's certificate"), (76 << 8, "Something else than this portal"), (77 << 8, "host name"),
        (78 << 8, "full on the node"), (2 << 8, "option python"), (127 << 8, "no such Python"), (5 << 8, "exit code 5"),
    ],
)  # fmt: skip
def test_what_a_node_lacks_is_said_in_words(clock, programs, boss, status, words):
    trial = tried(clock, programs, boss, "FAILED", status)
    assert trial.done and trial.details["good"] is False
    assert words in trial.answer


def test_what_sbatch_refuses_ends_the_trial_where_it_stood(clock, programs, boss):
    programs.tell("sbatch", accepts=False, complains="sbatch: error: invalid partition specified: main\n", code=1)
    trial = turn(clock, surveying.ask_trial("slurm", boss, clock(), **WANTED))
    assert trial.done and trial.details["good"] is False and trial.details["ended_in"] == ""
    assert "invalid partition specified: main" in trial.details["why"]


def test_a_trial_that_waits_too_long_is_given_up_and_cancelled(clock, programs, boss):
    trial = tried(clock, programs, boss, "PENDING")
    trial = turn(clock, trial, seconds=surveying.PATIENCE / timedelta(seconds=1))
    assert trial.details["why"].startswith("Given up. Waits for a node")
    assert programs.calls("scancel") == [["--quiet", "1"]]
    assert not trial.done  # until Slurm says that nothing is left
    programs.rows(full(f"1|{trial.details['token']}|CANCELLED|0|0|1|main|N/A|None|"))
    assert turn(clock, trial).done


def test_slurm_that_is_away_is_told_and_the_trial_goes_on_later(clock, programs, boss):
    trial = surveying.ask_trial("slurm", boss, clock(), **WANTED)
    programs.tell("squeue", says="", complains="Unable to contact slurm controller", code=1)
    assert "Unable to contact slurm controller" in turn(clock, trial).answer
    assert (trial.done, programs.calls("sbatch")) == (None, [])
    programs.tell("squeue")
    assert turn(clock, trial).details["stage"] == "asked"


def test_a_trial_is_no_unknown_machine_and_one_that_is_done_is_removed(clock, programs, boss):
    trial = tried(clock, programs, boss, "RUNNING")
    Turn.objects.update(until=None)
    rounds.reconcile(clock())
    assert not Stray.objects.exists() and programs.calls("scancel") == []
    Request.objects.filter(pk=trial.pk).update(done=clock())
    clock.forward(60)
    rounds.reconcile(clock())
    assert not Stray.objects.exists() and programs.calls("scancel") == [["--quiet", "1"]]
    assert trial.details["token"].startswith(Installation.code_of_this() + "-trial-")


def test_one_worker_at_a_time_looks(clock, programs, boss):
    asked = surveying.ask_look("slurm", boss)
    assert asked.claim(clock(), surveying.HOLD)
    assert turn(clock, asked).done is None
    assert turn(clock, asked, seconds=surveying.HOLD).done
