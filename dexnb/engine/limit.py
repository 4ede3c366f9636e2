"""`Limit`: how long a call from outside may take, the look for its run included."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from dexnb.engine.addressing import newest_run
from dexnb.errors import LongPollTimeoutError, RequestTimeoutError, WaitTimeout
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

LOOK_SECONDS = 0.5
"""What the look for a run may take in any case, so that no wait at all still tells of it."""


class Limit:
    """The seconds of one call, counted from here.

    Args:
        seconds: None for no limit.
        late: Raised where the store does not even tell of the run in time.
    """

    def __init__(self, seconds: float | None, late: type[WaitTimeout]) -> None:
        """Begin to count, on the running loop."""
        self.seconds = seconds
        self._late = late
        self._began = asyncio.get_running_loop().time()

    @classmethod
    def of_poll(cls, seconds: float | None) -> Self:
        """Give the limit of a wait for news, which may be made again."""
        return cls(seconds, LongPollTimeoutError)

    @classmethod
    def of_request(cls, seconds: float | None) -> Self:
        """Give the limit of a request."""
        return cls(seconds, RequestTimeoutError)

    def rest(self) -> asyncio.Timeout:
        """Give a block that ends with a TimeoutError when the seconds are over."""
        return self._at(self.seconds)

    async def newest_run(self, engine: Engine, flow_id: str) -> RunRecord:
        """Give the newest run of a flow id, open or not.

        Raises:
            FlowNotFoundError: There is none.
            WaitTimeout: As `late` says.
        """
        seconds = self.seconds
        try:
            async with self._at(None if seconds is None else max(seconds, LOOK_SECONDS)):
                return await newest_run(engine, flow_id)
        except TimeoutError:
            text = f"{flow_id} was not found within {seconds:g} s: the store does not answer"
            raise self._late(text) from None

    def _at(self, seconds: float | None) -> asyncio.Timeout:
        return asyncio.timeout_at(None if seconds is None else self._began + seconds)
