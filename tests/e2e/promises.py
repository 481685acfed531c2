"""What must hold after every job, looked at from outside: nothing left, a whole history, exact money."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from tests.e2e.real_portal import Portal, Work


def nothing_left(works: Sequence[Work]) -> None:
    """What must hold after every job: no process, no folder, no hold; one end; a history without a gap; money as used."""
    portal = works[0].portal
    for work in works:
        assert work.processes == []
        assert not list((portal.data / "clusters").glob(f"*{work.id}*"))
        history_is_whole(work)
        money_is_exact(work)


def history_is_whole(work: Work) -> None:
    moves = [(before, after) for before, after, *_ in work.events if before != after]
    assert [before for before, _ in moves[1:]] == [after for _, after in moves[:-1]], moves
    assert sum(after in {"completed", "failed", "stopped"} for _, after in moves) == 1, moves
    assert moves[0] == ("draft", "queued")


def money_is_exact(work: Work) -> None:
    """Nothing held, and each cluster is paid to the second from its first hello to its confirmed release (a lost one to its
    last sign of life)."""
    assert work.portal.value("select count(*) from jobs_hold where workload_id = ? and released is null", work.key) == 0
    clusters = work.portal.rows("select attempt, up, charged_until, released, exited, price, cores * nodes_wanted from jobs_cluster where workload_id = ?", work.key)
    for attempt, up, paid, released, exited, price, cores in clusters:
        spent = work.portal.value("select coalesce(sum(amount), 0) from jobs_charge where workload_id = ? and attempt = ?", work.key, attempt)
        if up is None:
            assert spent == 0
            continue
        seconds = math.ceil((datetime.fromisoformat(paid) - datetime.fromisoformat(up)).total_seconds())
        assert spent == math.floor(price * cores * seconds / 3600 + 0.5)
        assert paid <= max(released, up) and (exited is None or paid >= exited)


def budgets_agree(portal: Portal) -> None:
    """What stands in each budget is the sum of what was used and of its open holds, and a strict one is not exceeded."""
    for id, amount, spent, held in portal.rows("select id, amount, spent, held from jobs_budget"):
        assert spent == portal.value("select coalesce(sum(amount), 0) from jobs_charge where budget_id = ? and kind not in ('limit', 'period')", id)
        assert held == portal.value("select coalesce(sum(amount), 0) from jobs_hold where budget_id = ? and released is null", id)
        assert spent + held <= amount
