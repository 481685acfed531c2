"""Every recorded run gets its verdict, with the evidence that a person needs."""

import pytest

from jobs.verdicts import Label
from tests.jobs.verdicts.conftest import judged, recorded, unsaid


@pytest.mark.parametrize("case", recorded(), ids=lambda case: case["id"])
def test_recorded_run(case):
    verdict = judged(case)
    assert verdict.verdict in case["expect"], verdict.reason
    assert unsaid(case, verdict) == []
    assert verdict.reason.endswith((".", "!", "?"))
    assert len(verdict.evidence) <= 6
    assert all(one.file and len(one.text) <= 300 for one in verdict.evidence)


@pytest.mark.parametrize(
    "case", [case for case in recorded() if not {"converged", "finished"} & set(case["expect"])], ids=lambda case: case["id"]
)
def test_a_bad_ending_says_what_to_try(case):
    assert judged(case).advice


@pytest.mark.parametrize("case", [case for case in recorded() if case["software"] not in ("shell", "mpi")], ids=lambda case: case["id"])
def test_the_log_is_found_without_being_named(case):
    verdict = judged(case, log=None)
    assert verdict.verdict in case["expect"], verdict.reason


@pytest.mark.parametrize(
    "case", [case for case in recorded() if {"converged", "finished"} & set(case["expect"])], ids=lambda case: case["id"]
)
def test_a_healthy_run_is_recognised_without_its_command(case):
    verdict = judged(case, command="")
    assert (
        verdict.verdict in {*case["expect"], Label.UNKNOWN} if case["software"] in ("shell", "mpi") else verdict.verdict in case["expect"]
    ), verdict.reason
