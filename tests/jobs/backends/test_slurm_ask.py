"""A look at the software of a Slurm cluster's nodes, on real daemons: one core, soon or not at all, and nothing stays."""

import pytest
from backend_clouds import OnSlurm

from jobs.backends import slurm_ask
from jobs.backends.base import Refused, TryAgain
from tests.waiting import until


@pytest.fixture
def backend(slurm, place):
    return OnSlurm(place).backend(environment={"SOLVERS": "/opt/solvers"})


def test_each_program_answers_from_a_node_of_the_partition(slurm, backend):
    scripts = ["echo one; echo two >&2; (exit 3)", "echo $SLURMD_NODENAME $SOLVERS", "read line; echo got:$line; ls", "touch made; yes | head -c 200000"]
    said = backend.says(scripts, 20, {"partition": "main"})
    assert said[0] == "one\ntwo\n"
    assert said[1].split()[0] in slurm.nodes and said[1].split()[1] == "/opt/solvers"
    assert said[2] == "got:\n"
    assert len(said[3]) == 65536
    until(lambda: not slurm.running())  # what has ended may be listed a moment longer
    assert list(backend.tokens()) == [], "a look is no cluster"


def test_a_program_that_hangs_costs_its_time_and_the_others_answer(backend):
    assert backend.says(["echo before; sleep 1000", "echo after"], 1, {}) == ["before\n", "after\n"]


def test_where_nothing_is_free_it_is_given_up_in_words_and_leaves_nothing(slurm, backend, monkeypatch):
    monkeypatch.setattr(slurm_ask, "WAIT", 1)
    for _ in slurm.nodes:
        slurm.ask("sbatch", "--exclusive", "--wrap", "sleep 1000")
    busy = set(slurm.running())
    with pytest.raises(TryAgain, match="one core that is free within 1 s"):
        backend.says(["true"], 20, {})
    until(lambda: set(slurm.running()) == busy)
    slurm.ask("scancel", *busy)
    until(lambda: not slurm.running())


def test_a_partition_that_is_not_there_is_named(backend):
    with pytest.raises(Refused, match=r"could not be asked for.*partition"):
        backend.says(["true"], 20, {"partition": "nosuch"})


def test_a_python_that_nodes_do_not_have_is_told(slurm, place):
    with pytest.raises((TryAgain, Refused), match="could not be asked for"):
        OnSlurm(place).backend(python="/no/such/python3").says(["true"], 20, {})
