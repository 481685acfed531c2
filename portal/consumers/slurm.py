"""The live part of a Slurm cluster's page: how a look and a trial stand.

The one idea: as on every live page, subscribe, then send all of it, then again whenever the hardware has news.
"""

from django.template.loader import render_to_string

from jobs import surveying
from jobs.models.roles import is_admin
from portal import live
from portal.consumers.socket import AGAIN, HEARTBEAT, NOT_FOUND, Left, Socket, in_thread
from portal.presenters import slurm as shown

NOTHING = "<!-- -->"
LOST = 5.0  # seconds after which an open request is looked at without news


class SlurmSocket(Socket):
    """/live/hardware/slurm/?backend=slurm&look=3: the look whose finds the page has a form for"""

    async def enter(self) -> None:
        self.name, self.look = self.query.get("backend", "")[:40], self.query.get("look", "")
        if not await self.may_stay():
            raise Left(NOT_FOUND)

    async def may_stay(self) -> bool:
        return await may_look(self.user, self.name)

    async def show(self) -> None:
        async with live.hub.subscribe("hardware") as news:
            html, open_ = await render(self.name, self.look)
            await self.send_text(html)
            while await news.next(LOST if open_ else HEARTBEAT) is not None:
                before = html
                html, open_ = await render(self.name, self.look)
                await self.send_text(html if html != before else NOTHING)
        raise Left(AGAIN)


@in_thread
def may_look(user: object, name: str) -> bool:
    return is_admin(user) and name in surveying.names()


@in_thread
def render(name: str, look: str) -> tuple[str, bool]:
    """The fragment, and whether something is still to come."""
    page = shown.page(name)
    waits = page.looking or (page.trial is not None and page.trial.done is None)
    newer = page.found_by is not None and str(page.found_by.pk) != look
    return render_to_string("hardware/_slurm_now.html", {"page": page, "oob": True, "newer": newer}), waits
