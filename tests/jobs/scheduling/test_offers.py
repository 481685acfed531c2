"""What would start a job now: true by the queue's facts, tried against the check of the input, looked up again when taken."""

from datetime import timedelta

import factories
import playing
import pytest

from jobs import offering, scheduling
from jobs.models import Check, Limit, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]
FEWER = "8 instead of 16 cores: they are free now"


def offered(work, clock):
    """After the engine has tried what could be offered."""
    offering.offers(work, clock())
    playing.turn_all(clock, ("queued",))
    work.refresh_from_db()
    return {one.code: one for one in offering.offers(work, clock())}


def test_an_offer_is_tried_before_it_is_made(clock, owner, queued, running, turn, granite):
    running(owner, coretype=granite, cores=8)
    work = queued(owner, command="echo", coretype=granite, cores=16)
    turn(work)
    assert offering.offers(work, clock()) == []
    trial = Check.objects.get(trial_of=work.job)
    assert (trial.done, trial.shape) == (None, {"cores": 8})
    version = work.version
    assert [one.sentence for one in offered(work, clock).values()] == [FEWER]
    assert work.version > version  # so the page shows it by itself


def test_what_the_check_would_refuse_is_not_offered(clock, owner, queued, running, turn, granite):
    running(owner, coretype=granite, cores=8)
    work = queued(owner, command="mpirun -np 16 hostname", software=factories.software("mpi"), coretype=granite, cores=16)
    turn(work)
    assert [one.code for one in scheduling.offers(work, clock())] == ["cores"]
    assert offered(work, clock) == {}
    assert Check.objects.get(trial_of=work.job).errors


def test_what_is_taken_is_checked_in_its_new_shape_and_starts(clock, client, owner, queued, running, turn, granite):
    running(owner, coretype=granite, cores=8)
    work = queued(owner, command="echo", coretype=granite, cores=16)
    turn(work)
    offered(work, clock)
    client.force_login(owner)
    client.post(f"/jobs/{work.public_id}/offer/", {"offer": FEWER})
    turn(work)
    assert (work.status, work.cores) == ("validating", 8)
    playing.turn_all(clock, ("validating",))
    work = Workload.objects.get(pk=work.pk)
    assert (work.status, work.job.checked) == ("starting", Check.objects.get(trial_of=work.job))


def test_an_offer_that_is_not_true_any_more_changes_nothing(clock, client, owner, queued, running, turn, granite):
    running(owner, coretype=granite, cores=8)
    work = queued(owner, command="echo", coretype=granite, cores=16)
    turn(work)
    offered(work, clock)
    running(owner, coretype=granite, cores=4, walltime=60, priority=9)
    client.force_login(owner)
    page = client.post(f"/jobs/{work.public_id}/offer/", {"offer": FEWER}, follow=True)
    work.refresh_from_db()
    assert (work.status, work.cores) == ("queued", 16)
    assert "not true any more" in page.content.decode()


def test_another_coretype_that_no_budget_can_pay_is_not_offered(clock, owner, wing, queued, running, turn, granite, basalt):
    factories.budget(wing, "3.3")
    running(owner, coretype=granite, cores=16, project=wing)
    work = queued(owner, coretype=granite, cores=8, project=wing)
    turn(work)
    assert scheduling.offers(work, clock()) == []


def test_a_limit_leaves_fewer_cores_to_offer(clock, owner, queued, running, turn, granite):
    Limit.objects.create(most_cores=6)
    running(owner, coretype=granite, cores=4)
    work = queued(owner, coretype=granite, cores=4)
    turn(work)
    assert work.gate == "limits"
    assert [one.sentence for one in scheduling.offers(work, clock())] == ["2 instead of 4 cores: so many are allowed now"]


def test_a_shorter_walltime_lets_it_slip_in(clock, owner, queued, running, turn, granite):
    running(owner, coretype=granite, cores=8, walltime=2 * 3600)
    queued(owner, coretype=granite, cores=16)
    clock.forward(1)
    work = queued(owner, coretype=granite, cores=8, walltime=4 * 3600)
    turn(work)
    assert work.gate == "place"
    found = offered(work, clock)["walltime"]
    assert (found.sentence, found.fields) == ("At most 1 h 50 min of walltime: it is over before others need the cores", {"walltime": 6600})
    assert work.ask_for(owner, clock(), **found.fields)
    turn(work)
    assert work.status == "validating"


def test_choices_are_not_offered_again_and_follow_what_is_taken(clock, owner, queued, running, turn, granite, basalt):
    running(owner, coretype=basalt, cores=1)
    running(owner, coretype=granite, cores=8)
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)])
    turn(work)
    found = offered(work, clock)
    assert list(found) == ["cores"]
    assert work.ask_for(owner, clock(), **found["cores"].fields)
    assert [(one.coretype, one.cores) for one in work.choices.all()] == [(granite, 8), (basalt, 8)]
    turn(work)
    assert (work.status, work.coretype, work.cores) == ("validating", granite, 8)


def test_the_check_covers_every_choice_and_names_the_one_that_does_not_fit(clock, owner, queued, turn, granite, basalt):
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)], command="mpirun -np 16 hostname", software=factories.software("mpi"))
    turn(work)
    playing.turn_all(clock, ("queued", "validating"))
    work.refresh_from_db()
    assert (work.status, work.reason) == ("failed", "findings")
    errors = [one["message"] for one in work.job.checked.findings if one["severity"] == "error"]
    assert len(errors) == 1
    assert errors[0].startswith("On Basalt 1 \u00d7 8: ")


def test_ranks_that_follow_the_cores_fit_every_choice(clock, owner, queued, running, turn, granite, basalt):
    running(owner, coretype=granite, cores=16)
    command = "mpirun -np $HEADRACE_CORES hostname"
    work = queued(owner, [(granite, 1, 16), (basalt, 1, 8)], command=command, software=factories.software("mpi"))
    turn(work)
    playing.turn_all(clock, ("validating",))
    work.refresh_from_db()
    assert (work.status, work.coretype) == ("starting", basalt)
    assert Workload.objects.filter(submitted__gt=clock() - timedelta(hours=1)).count() == 2
