"""What the Status page says of a run's course: how far, how fast, where the residuals go, what alarms."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from jobs import logs
from jobs.models import Cluster, Job, Workload
from portal.presenters import cards, course, head, stages
from portal.presenters.facts import Facts

pytestmark = pytest.mark.django_db

SERIES = [
    {"name": "p", "x": 1184, "y": 5.4e-5, "tolerance": 1e-5, "direction": "falling", "reach": 1460.3},
    {"name": "U", "x": 1184, "y": 8.7e-6, "tolerance": 1e-5, "direction": "falling", "reach": None},
]
ALARM = {"kind": "nan", "message": "p is not a number", "diverging": True, "file": "log.simpleFoam", "line": 214, "text": "nan"}


@pytest.fixture
def running(jobs):
    """The running job, 100 s after its progress was first read at 10 %."""
    work = jobs["running"]
    now = timezone.now()
    Cluster.objects.filter(workload=work).update(started=now - timedelta(seconds=300), walltime_until=now + timedelta(hours=1))

    def told(**said):
        basis = {"attempt": work.attempt, "at": now.timestamp(), "text": "increment 14 of 40", "percent": 35.0, "x": "iteration"}
        Job.objects.filter(pk=work.pk).update(progress=basis | {"first": [10.0, now.timestamp() - 100]} | said)
        return Facts(Workload.objects.get(pk=work.pk), now)

    return told


def test_nothing_is_said_where_nothing_is_known(jobs):
    facts = Facts(jobs["running"])
    assert (course.says(facts), course.pace(facts), course.course(facts), course.alarm(facts)) == ("", None, None, None)


def test_the_stage_says_how_far_and_when_it_ends(running):
    facts = running(direction="falling")
    row = next(row for row in stages.rows(facts) if row.current)
    assert row.says.text == "increment 14 of 40, residuals falling"
    assert row.says.bar == 35.0
    assert row.note.startswith("ends about ")


def test_the_end_follows_from_the_pace_since_the_first_reading(running):
    facts = running()
    found = course.pace(facts)
    assert (found.end - facts.now).total_seconds() == pytest.approx(100 * 65 / 25)
    assert found.cost >= facts.cost.spent
    assert not found.late
    assert "at this pace ends" in " ".join(part.text for clause in head.headline(facts) for part in clause)
    assert "At this pace it ends" in [row.term for row in cards.cost(facts).rows]


@pytest.mark.parametrize(
    "said",
    [
        {"first": None},
        {"percent": None},
        {"percent": 100.0},
        {"percent": 10.2},
        {"at": 0.0},
    ],
)
def test_no_pace_from_too_little(running, said):
    assert course.pace(running(**said)) is None


def test_a_walltime_that_is_over_before_is_said(running):
    facts = running(percent=10.0 + 1.0, series=SERIES)
    facts.cluster.walltime_until = facts.now + timedelta(seconds=60)
    assert course.pace(facts).late
    assert any("walltime is over before that" in note for note in course.course(facts).notes)
    assert "at this pace ends" not in " ".join(part.text for clause in head.headline(facts) for part in clause)


def test_each_series_with_its_tolerance(running):
    card = course.course(running(series=SERIES, points=2368, direction="falling"))
    assert card.title == "Time to finish"
    assert card.badge.label == "Falling"
    assert [(row.now, row.tolerance, row.expected, row.below) for row in card.rows] == [
        ("5.4e-05", "1e-05", "at about 1,460", False),
        ("8.7e-06", "1e-05", "", True),
    ]


def test_an_alarm_says_what_happens_now_and_links_to_the_line(running, signed):
    facts = running(alarm=ALARM)
    facts.job.streams = {"log.simpleFoam": "case/log.simpleFoam"}
    found = course.alarm(facts)
    assert found.text.startswith("It goes on, and costs")
    assert found.href == reverse("job-output", args=[facts.work.public_id]) + "?stream=log.simpleFoam#L214"
    facts.job.stop_when_diverging = True
    assert course.alarm(facts).text.startswith("It stops by the rule")
    page = signed.get(reverse("job", args=[facts.work.public_id])).content.decode()
    assert "p is not a number" in page
    assert 'role="status"' in page[page.index("-alarm") :][:40]


def test_of_an_earlier_attempt_nothing_is_shown(running):
    facts = running(alarm=ALARM, attempt=7, series=SERIES)
    assert (course.course(facts), course.alarm(facts)) == (None, None)


def test_the_points_come_from_beside_the_logs(running, signed):
    facts = running(series=SERIES)
    address = reverse("job-series", args=[facts.work.public_id])
    assert signed.get(address).json()["series"] == []
    folder = logs.course_dir(facts.logs_dir)
    folder.mkdir(parents=True)
    (folder / "chart.json").write_text(
        '{"series": [{"name": "p", "points": [[1, 0.5]], "tolerance": null, "x": "time", "logarithmic": true}]}'
    )
    told = signed.get(address).json()
    assert (told["title"], told["x"], told["series"][0]["points"]) == ("Residuals", "time", [[1, 0.5]])


def test_evidence_of_a_verdict_links_into_the_log(jobs):
    facts = Facts(jobs["completed"])
    facts.job.verdict = "converged"
    facts.job.streams = {"bar.sta": "run/bar.sta"}
    evidence = [
        {"file": "stdout", "line": 3, "text": "done"},
        {"file": "run/bar.sta", "line": 7, "text": "1"},
        {"file": "gone.txt", "line": None, "text": ""},
    ]
    facts.job.verdict_detail = {"reason": "It converged.", "evidence": evidence}
    base = reverse("job-output", args=[facts.work.public_id])
    assert [row.href for row in cards.verdict(facts).evidence] == [f"{base}#L3", f"{base}?stream=bar.sta#L7", ""]


def test_stopped_by_the_rule_says_so_in_the_head(jobs):
    work = jobs["stopped"]
    work.reason, work.detail, work.wished_by = "stopped-by-rule", "It diverged at time 3: p is not a number. 4 files saved.", None
    clauses = head.headline(Facts(work))
    assert clauses[0][0].text.startswith("Stopped by the rule that was set for it: It diverged at time 3")
