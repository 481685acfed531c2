"""What CI asks of pytest beyond the README's command: nothing may be skipped, and a run of the tests with a database only.

Loaded by `manage.py ci` with `-p tests.ci_plugin`. Skips for want of something in the kernel, which no package brings,
are allowed and listed; so are the agent's run on an old Python that few machines have, and a part of the backends' contract
that does not apply to one of them (a queue of its own, or none), and what only PostgreSQL can do, which the run with it tries.
"""

from __future__ import annotations

import pytest

KERNEL = ("kernel", "controller", "cgroup", "right to mount", "Python 3.6", "Python that every user may run", "queue of its own", "on PostgreSQL alone")
DATABASE = {"db", "transactional_db", "django_db_setup", "live_server"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-only", action="store_true", help="only tests that use the database")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--database-only"):
        return
    wanted = [item for item in items if uses_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(wanted)])
    items[:] = wanted


def uses_database(item: pytest.Item) -> bool:
    """A browser sees the same page whatever lies behind it: those tests run once, with everything else."""
    if "playwright" in getattr(item, "fixturenames", ()):
        return False
    return bool(item.get_closest_marker("django_db") or DATABASE & set(getattr(item, "fixturenames", ())))


def unexcused(reports: list[pytest.TestReport]) -> list[str]:
    """Reasons of skips that a package would have avoided."""
    reasons = [report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr) for report in reports]
    return [reason for reason in reasons if not any(word in reason for word in KERNEL)]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    found = session.config.pluginmanager.get_plugin("terminalreporter")
    if found and unexcused(found.stats.get("skipped", [])) and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = unexcused(terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("skipped, which CI does not allow", red=True)
        for reason in reasons:
            terminalreporter.write_line(reason)
