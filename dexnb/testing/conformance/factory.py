"""`ProviderFactory`: what a store's author gives the conformance suite."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

from dexnb.clock import Clock
from dexnb.providers import Provider


class ProviderFactory(ABC):
    """Makes providers for one test; subclass it beside the store's own tests.

    Attributes:
        clock: On which clock the tests run. The virtual one makes them fast, where the store's own
            work is counted (`dexnb.clock.outside_work`); a store that keeps time itself needs the
            real one.
        lock_timeout: Seconds that a lock is taken for; many tests wait until one runs out.
        short_poll_threshold: Seconds within which one call answers when it does not wait for work.
        waits_for_work: Whether a fetch that finds nothing waits, up to its poll timeout.
        one_time: Whether `clock.now()` and `clock.lease()` are the same to the store, as they may
            be where engines on several machines share it: a suspended machine keeps no lock then.
    """

    clock: Clock = Clock.real()
    lock_timeout: float = 1.0
    short_poll_threshold: float = 0.1
    waits_for_work: bool = True
    one_time: bool = False

    @abstractmethod
    async def create(self) -> Provider:
        """Open a provider on a fresh store that nothing else uses, on `clock`."""

    @abstractmethod
    async def second(self, provider: Provider, owner: str, clock: Clock | None = None) -> Provider:
        """Open one more provider on the store of another, for one more engine.

        Args:
            provider: Whose store; it may be closed by now.
            owner: The engine's name.
            clock: Which clock to open it on; `self.clock` by default.
        """

    @abstractmethod
    async def corrupt_event(self, provider: Provider, run_id: str, seq: int) -> None:
        """Make a stored event unreadable, behind the provider's back."""

    async def advance(self, seconds: float) -> None:
        """Let time pass for the store."""
        await asyncio.sleep(seconds)
