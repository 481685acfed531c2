"""What may run at once: limits for each member and each project, on a coretype or everywhere, and how a waiting job says so."""

import factories
import playing
import pytest
from django.core.exceptions import ValidationError

from jobs import scheduling
from jobs.models import Limit, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


def test_a_member_s_next_job_waits_and_says_so(clock, owner, stranger, queued, running, turn, granite):
    Limit.objects.create(coretype=granite, most_jobs=2)
    running(owner, coretype=granite)
    running(owner, coretype=granite)
    third, other = queued(owner, coretype=granite), queued(stranger, coretype=granite)
    turn(third, other)
    assert (third.gate, third.gate_text) == ("limits", "Its owner runs 2 of the 2 jobs allowed at once on Granite")
    assert third.gate_more == "The limit for each member is at most 2 jobs at once on Granite; an admin can change it"
    assert third.gate_since == clock()
    assert other.status == "validating"
    since = clock()
    clock.forward(60)
    turn(third)
    gate = next(one for one in scheduling.gates(third, clock()) if one.holds)
    assert (gate.code, gate.since) == ("limits", since)


def test_it_starts_once_one_is_over(clock, owner, queued, running, turn, granite):
    Limit.objects.create(most_jobs=1)
    first, agents = running(owner, coretype=granite)
    second = queued(owner, coretype=granite)
    turn(second)
    assert second.gate == "limits"
    playing.finish(agents[0], clock)
    for _ in range(4):
        clock.forward(2)
        playing.turn_all(clock)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("completed", "starting")


def test_many_submitted_at_once_start_up_to_the_limit(owner, queued, turn, granite):
    Limit.objects.create(most_cores=10)
    works = [queued(owner, coretype=granite, cores=4) for _ in range(4)]
    turn(*works)
    assert [work.status for work in works] == ["validating", "validating", "queued", "queued"]
    assert works[2].gate_text == "Its owner runs 8 of the 10 cores allowed at once; needs 4 more"


def test_projects_have_limits_of_their_own(owner, member, wing, queued, turn, granite):
    Limit.objects.create(per="project", most_jobs=1)
    first, second = queued(owner, project=wing, coretype=granite), queued(member, project=wing, coretype=granite)
    alone = queued(owner, coretype=granite)
    turn(first, second, alone)
    assert (first.status, second.gate_text, alone.status) == ("validating", "Project Wing runs 1 of the 1 job allowed at once", "validating")


def test_a_limit_for_one_stands_in_for_that_of_each(owner, stranger, queued, turn, granite):
    Limit.objects.create(most_jobs=1)
    Limit.objects.create(member=owner, most_jobs=2)
    works = [queued(owner, coretype=granite) for _ in range(3)]
    others = [queued(stranger, coretype=granite) for _ in range(2)]
    turn(*works, *others)
    assert [work.gate for work in (*works, *others)] == ["", "", "limits", "", "limits"]
    assert works[2].gate_more.startswith("The limit for this member")


def test_who_is_at_a_limit_blocks_nobody_and_is_no_head(owner, stranger, queued, running, turn, granite):
    Limit.objects.create(most_jobs=1)
    running(owner, coretype=granite, cores=8)
    big = queued(owner, coretype=granite, cores=16)
    small = queued(stranger, coretype=granite, cores=8, walltime=7 * 86400)
    turn(big, small)
    assert (big.gate, small.status) == ("capacity", "validating")


def test_no_economy_work_gives_way_for_one_that_a_limit_holds(owner, stranger, queued, running, turn, granite):
    Limit.objects.create(most_cores=16)
    cheap, _ = running(owner, coretype=granite, cores=8, economy=True)
    queued(owner, coretype=granite, cores=16)
    turn(cheap)
    assert cheap.status == "running"


def test_the_gate_stands_between_capacity_and_place_and_tells_what_is_taken(clock, owner, queued, running, turn, granite):
    Limit.objects.create(most_jobs=5)
    running(owner, coretype=granite, cores=8)
    queued(owner, coretype=granite, cores=16)
    behind = queued(owner, coretype=granite, cores=8, walltime=7 * 86400)
    turn(behind)
    gates = {gate.code: gate for gate in scheduling.gates(behind, clock())}
    assert list(gates) == ["coretype", "budget", "capacity", "limits", "place"]
    assert (gates["limits"].passed, gates["limits"].sentence) == (True, "Its owner runs 1 of the 5 jobs allowed at once")
    assert gates["place"].holds


def test_too_big_for_a_limit_even_alone(owner, granite):
    Limit.objects.create(coretype=granite, most_cores=8)
    limits = scheduling.limits_now()
    assert limits.why_never(Workload(owner=owner, coretype=granite, cores=9)) == "At most 8 cores at once for you on Granite; 9 are asked for."
    assert limits.why_never(Workload(owner=owner, coretype=granite, cores=8)) == ""


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "how many jobs, or how many cores"),
        ({"most_jobs": 0}, "greater than or equal to 1"),
        ({"per": "member", "project": True, "most_jobs": 1}, "can't name a project"),
        ({"per": "project", "member": True, "most_jobs": 1}, "can't name a member"),
        ({"most_jobs": 3}, "a limit for this already"),
    ],
)
def test_limits_that_cannot_be(owner, wing, fields, words):
    Limit.objects.create(most_jobs=5)
    given = {**fields, **({"project": wing} if "project" in fields else {}), **({"member": owner} if "member" in fields else {})}
    with pytest.raises(ValidationError, match=words):
        Limit(**given).full_clean()


def test_without_limits_nothing_is_counted(owner, queued, turn, granite, django_assert_max_num_queries):
    queued(owner, coretype=granite)
    with django_assert_max_num_queries(1):
        assert scheduling.limits_now().short(Workload(owner=owner, coretype=granite)) is None
    assert factories.coretype().limits.count() == 0
