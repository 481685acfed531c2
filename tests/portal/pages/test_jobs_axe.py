"""Every page of jobs, filled, in Chromium: axe finds no violation, the policy is kept, nothing is wider than a phone."""

from __future__ import annotations

import pytest
from browsing import LOOKS, faults, violations

from jobs import lifecycle


def addresses(jobs, look: str) -> list[str]:
    """All pages in the light, one of a kind otherwise."""
    status = [f"/jobs/{work.public_id}/" for work in jobs.values()]
    running, done, failed = (jobs[name].public_id for name in (lifecycle.RUNNING, "completed", "failed"))
    tabs = [f"/jobs/{running}/{tab}/" for tab in ("output", "files", "health", "timeline", "settings")]
    more = [f"/jobs/{done}/files/", f"/jobs/{done}/files/0/view/", f"/jobs/{done}/files/?q=nothing", f"/jobs/{failed}/settings/"]
    asked = [f"/jobs/{running}/stop/", f"/jobs/{running}/stop/?force=1", f"/jobs/{done}/delete/"]
    if look != "light":
        return ["/jobs/", "/jobs/new/", *(f"/jobs/{jobs[name].public_id}/" for name in ("running", "stop asked", "failed", "refused")), *tabs[1:3], more[0]]
    return ["/jobs/", "/jobs/?q=nothing-like-it", "/jobs/?view=archived", "/jobs/new/", f"/jobs/new/?draft={jobs['draft'].public_id}", *status, *tabs, *more, *asked]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("look", LOOKS)
def test_pages_of_jobs_are_accessible(jobs, shown, look):
    assert faults(shown, addresses(jobs, look), look) == {}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("look", LOOKS)
def test_first_visit_is_accessible(shown, owner, look):
    page, problems = shown("/jobs/", look)
    assert "Use the plate sample" in page.content()
    assert violations(page) == []
    assert problems == []
