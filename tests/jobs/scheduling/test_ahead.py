"""What a waiting job sees of its line: who gives cores back when, who stands before it, and only names that may be told."""

from datetime import timedelta

import pytest
from django.core.cache import cache

from jobs import scheduling
from jobs.models import Job, Workload
from portal.presenters import start
from portal.presenters.facts import Facts

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("cloud")]


@pytest.fixture(autouse=True)
def nothing_kept():
    """What a page has seen of a line is kept for a while, by an id that another test's job had as well."""
    cache.clear()


@pytest.fixture
def waits(owner, member, stranger, wing, queued, running, turn, granite):
    """The last of three in line behind two that run: those of the project, and a stranger's."""
    ours, _ = running(owner, coretype=granite, cores=8, walltime=7200, project=wing, name="ours")
    theirs, _ = running(stranger, coretype=granite, cores=8, walltime=3600, name="theirs")
    line = [queued(one, coretype=granite, cores=16, name=name, project=project)
            for one, name, project in ((member, "first", wing), (stranger, "secret", None), (owner, "mine", wing))]  # fmt: skip
    turn(*line)
    return ours, theirs, line[2]


def test_who_gives_cores_back_and_who_stands_before_it(clock, waits):
    ours, theirs, mine = waits
    seen = scheduling.ahead(mine, clock())
    assert (seen.free, seen.place, sorted(one.name for one in seen.before)) == (0, 3, ["first", "secret"])
    assert [(one.work.name, one.work.cores, one.by) for one in seen.holders] == [("theirs", 8, "walltime"), ("ours", 8, "walltime")]
    assert seen.holders[0].end == theirs.cluster.walltime_until
    first, last = {"attempt": 1, "at": clock().timestamp(), "percent": 50}, clock() - timedelta(seconds=600)
    Job.objects.filter(pk=ours.pk).update(progress={**first, "first": [0, last.timestamp()]})
    Workload.objects.filter(pk=theirs.pk).update(status="stopping")
    assert [(one.work.name, one.by) for one in scheduling.ahead(mine, clock()).holders] == [("theirs", "stopping"), ("ours", "pace")]


def test_what_waits_for_money_stands_in_no_line(clock, waits):
    Workload.objects.filter(pk=waits[2].pk).update(gate="budget")
    assert scheduling.ahead(Workload.objects.get(pk=waits[2].pk), clock()) is None


def test_names_of_others_are_not_told(clock, waits):
    card = start.start(Facts(waits[2], clock()))
    said = {one.words: bool(one.href) for one in [*(row.work for row in card.freed), *(other for _, other, _ in card.line)]}
    assert said == {"ours": True, "first": True, "a job of somebody else": False}
    assert (card.place, card.more, card.freed[0].when.endswith("at the latest, when its walltime is over")) == (3, 0, True)


def test_the_page_shows_the_start_the_line_and_offers_with_their_cost(clock, client, owner, queued, running, turn, granite, basalt):
    running(owner, coretype=granite, cores=16, name="holds it")
    work = queued(owner, command="echo", coretype=granite, cores=8, walltime=7200)
    turn(work)
    client.force_login(owner)
    client.get(f"/jobs/{work.public_id}/")
    turn(work)
    page = client.get(f"/jobs/{work.public_id}/").content.decode()
    for words in ("Expected start", "In line for Granite", "Next to give cores back", "holds it", "Use Basalt", "At most €4.80 instead of €1.60"):
        assert words in page
    offer = next(one for one in start.changes(work, Facts(work, clock()).offers(owner)) if one.word == "Use Basalt")
    client.post(f"/jobs/{work.public_id}/offer/", {"offer": offer.sentence})
    turn(work)
    assert (work.coretype, work.status) == (basalt, "validating")
