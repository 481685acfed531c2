"""Live pages: the fragments of one job or workstation, and the rows of their lists.

The one idea: subscribe, then send everything once, then again what has moved. A socket that comes back
after a break thereby gets what it lacks; a job that lives is told again every REFRESH seconds, for its money and its
last output move without any news. A rendering belongs to one user (it may name what only they may
do) and is made once per process for all sockets of that user that show the same.
"""

import time
from dataclasses import dataclass
from typing import Any

from jobs.models import Workload
from portal import fragments, live
from portal.consumers.shared import Once
from portal.consumers.socket import AGAIN, HEARTBEAT, NOT_FOUND, Left, Socket, entered_workload, in_thread, visible_workload

MOST_ROWS = 100
REFRESH = 10.0  # seconds after which the page of an active job is told again without news
NOTHING = "<!-- -->"  # what a heartbeat says: HTML in which there is nothing to swap


@dataclass(frozen=True)
class Shown:
    """A page's fragments at a version; without html this user may not see the job (any more)."""

    version: int
    html: str | None
    living: bool = False
    at: float = 0.0


class PageSocket(Socket):
    """/live/jobs/<id>/?page=status, and the same for workstations"""

    async def enter(self) -> None:
        self.public_id = self.scope["url_route"]["kwargs"]["public_id"]
        self.page = self.query.get("page", "status")[:40]
        self.work = await entered_workload(self.public_id, self.user)

    async def may_stay(self) -> bool:
        return await visible_workload(self.public_id, self.user) is not None

    async def show(self) -> None:
        topic = self.work.topic
        async with live.hub.subscribe(topic) as news:
            version = 0
            while True:
                shown = await self._shown(version)
                news.seen[topic] = shown.version
                if shown.html is None:
                    raise Left(NOT_FOUND)
                if shown.html:
                    await self.send_text(shown.html)
                version = await self._moved(news, topic, shown)

    async def _shown(self, version: int) -> Shown:
        oldest = time.monotonic() - REFRESH / 2
        return await _pages.get(
            (self.public_id, self.user.pk, self.page),
            lambda: render(self.public_id, self.user, self.page),
            lambda made: bool(version) and made.version >= version and (made.at > oldest or not made.living),
        )

    async def _moved(self, news: live.News, topic: str, shown: Shown) -> int:
        """Waits for news of a version not shown yet, or until an active job is to be told again; 0 if they don't say of which."""
        while (moved := await news.next(REFRESH if shown.living else HEARTBEAT)) is not None:
            if moved and is_new(moved[topic], shown.version):
                return int(moved[topic].get("version") or 0)
            if not moved and shown.living:
                return shown.version
            if not moved:
                await self.send_text(NOTHING)
        raise Left(AGAIN)


class RowsSocket(Socket):
    """/live/jobs/?ids=aBcDeF,gHiJkL: the rows that the client shows, at most 100."""

    async def enter(self) -> None:
        if not self.user.is_authenticated:
            raise Left(NOT_FOUND)
        asked = [one for one in self.query.get("ids", "").split(",") if one.isalnum()][:MOST_ROWS]
        self.topics = await visible_topics(asked, self.user)  # topic: public id

    async def show(self) -> None:
        async with live.hub.subscribe(*self.topics) as news:
            if self.topics:
                await self._send_rows(list(self.topics.values()), news)
            while (moved := await news.next(HEARTBEAT)) is not None:
                fresh = [self.topics[topic] for topic, facts in moved.items() if is_new(facts, news.seen.get(topic, 0))]
                if fresh:
                    await self._send_rows(fresh, news)
                elif not moved:
                    await self.send_text(NOTHING)
        raise Left(AGAIN)

    async def _send_rows(self, public_ids: list[str], news: live.News) -> None:
        public_ids = sorted(public_ids)
        versions, html = await _rows.get((*public_ids, self.user.pk), lambda: render_rows(public_ids, self.user))
        for topic, public_id in self.topics.items():
            if public_id in public_ids:
                news.seen[topic] = versions.get(public_id, 0)
        if html:
            await self.send_text(html)


def is_new(facts: dict[str, Any], seen: int) -> bool:
    """Whether news tell of something not shown yet: the same may come from the domain and from the guard."""
    version = facts.get("version")
    return not version or version > seen


@in_thread
def render(public_id: str, user: Any, page: str) -> Shown:
    """Reads the job as this user may see it, and renders the fragments of a page."""
    work = Workload.objects.visible_to(user).filter(public_id=public_id).first()
    if work is None:
        return Shown(0, None)
    return Shown(work.version, fragments.render(work, user, page), work.is_active, time.monotonic())


@in_thread
def render_rows(public_ids: list[str], user: Any) -> tuple[dict[str, int], str]:
    """The versions read and the rows, for those that this user may see."""
    versions = dict(Workload.objects.visible_to(user).filter(public_id__in=public_ids).values_list("public_id", "version"))
    return versions, fragments.render_rows(sorted(versions), user)


@in_thread
def visible_topics(public_ids: list[str], user: Any) -> dict[str, str]:
    rows = Workload.objects.visible_to(user).filter(public_id__in=public_ids).values_list("kind", "public_id")
    return {f"{kind}:{public_id}": public_id for kind, public_id in rows}


_pages: Once[Shown] = Once()
_rows: Once[tuple[dict[str, int], str]] = Once(most=0)
