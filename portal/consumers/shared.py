"""One read for many viewers: what is asked for by several sockets at once is made once.

The one idea: news wake a thousand sockets in one turn of the loop. The first that asks starts the work,
a turn later, so that all the others can join it; whoever asks after it began gets a new one, because the
old one may have read too early.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class Once(Generic[Made]):
    """Makes a thing per key. `kept(key, fits)` takes the last one made if it still fits."""

    def __init__(self, most: int = 256):
        self.most = most
        self._waiting: dict[Hashable, asyncio.Future[Made]] = {}
        self._made: OrderedDict[Hashable, Made] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Made]], fits: Callable[[Made], bool] | None = None) -> Made:
        """The thing, as it is now or later; or the last one made, if `fits` says that it will do."""
        if fits and key in self._made and fits(self._made[key]):
            return self._made[key]
        place = (asyncio.get_running_loop(), key)
        if place not in self._waiting:
            self._waiting[place] = asyncio.ensure_future(self._make(place, make))
        return await asyncio.shield(self._waiting[place])

    async def _make(self, place: tuple[Any, Hashable], make: Callable[[], Awaitable[Made]]) -> Made:
        await asyncio.sleep(0)
        del self._waiting[place]  # whoever comes from now on may know more than what is read now
        made = await make()
        self._made[place[1]] = made
        self._made.move_to_end(place[1])
        while len(self._made) > self.most:
            self._made.popitem(last=False)
        return made
