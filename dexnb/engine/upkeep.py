"""`Upkeep`: the engine's one periodic tick: leases, the store's other users, clocks, telemetry.

On the real clock it ticks twice a second. On other clocks there are no other users, and it ticks
only while attempts hold leases, so that an idle virtual loop has nothing to jump to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from dexnb.clock import Clock, ClockWatch, Stepped, Suspended, host_readings
from dexnb.engine import capture
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.step_hosts import StepHosts
from dexnb.engine.telemetry import Telemetry
from dexnb.engine.worker import Worker
from dexnb.errors import ProviderError
from dexnb.providers import Provider

TICK_SECONDS = 0.5

ALERT_SECONDS = 0.04
"""How often the store is watched while others change it: they hand work over, too."""

ALERT_LOOKS = 25
"""Looks that must find nothing before the watch is as slow again as the tick."""


class Upkeep:
    """Ticks for one engine.

    Args:
        clock: How time passes.
        provider: The store.
        options: Leases.
        worker: Whose leases are renewed.
        hosts: Whose Steps are woken after a suspend.
        telemetry: What is flushed.
        changed: Called when another process has changed the store.
        lost: Called with why the store is not there any more, and with None when it is again.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        provider: Provider,
        options: RuntimeOptions,
        worker: Worker,
        hosts: StepHosts,
        telemetry: Telemetry,
        changed: Callable[[], None],
        lost: Callable[[ProviderError | None], None],
    ) -> None:
        """Start to tick where time is real; elsewhere wait for `poke`."""
        self._real = clock.kind == "real"
        self._provider = provider
        self._options = options
        self._worker = worker
        self._hosts = hosts
        self._telemetry = telemetry
        self._changed = changed
        self._lost = lost
        self._watch = ClockWatch()
        self._renewed = asyncio.get_running_loop().time()
        self._overdue = False
        self._suspended = False
        self._handle: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self._alert: asyncio.Task[None] | None = None
        self._stopped = False
        if self._real:
            self._schedule()

    def poke(self) -> None:
        """Learn that an attempt has begun."""
        if self._handle is None and self._task is None:
            self._schedule()

    async def stop(self) -> None:
        """End the ticks; write what telemetry is left."""
        self._stopped = True
        if self._handle is not None:
            self._handle.cancel()
        if self._alert is not None:
            self._alert.cancel()
            await asyncio.wait([self._alert])
        if self._task is not None:
            await self._task
        while self._telemetry.dirty:
            await self.flush()

    async def flush(self) -> None:
        """Write waiting telemetry to the store; what cannot be written is given up."""
        if chunks := self._telemetry.take_chunks():
            try:
                await self._provider.append_telemetry(chunks)
            except Exception as error:  # noqa: BLE001 - telemetry decides nothing
                self._tell(error)

    @property
    def _renew_interval(self) -> float:
        return self._options.worker_lock_timeout.total_seconds() / 2

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        # After a failed renewal there is half a lease left to try again.
        interval = self._renew_interval / 4 if self._overdue else self._renew_interval
        interval = min(TICK_SECONDS, interval) if self._real else interval
        self._handle = loop.call_later(interval, self._begin)

    def _begin(self) -> None:
        self._handle = None
        self._task = asyncio.get_running_loop().create_task(self._tick())
        self._task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            self._tell(error)
        if not self._stopped and (self._real or self._worker.live):
            self._schedule()

    async def _tick(self) -> None:
        if self._real:
            self._observe_clocks()
            capture.wrap_streams()
            if self._worker.live:
                self._hosts.look()
        changed = self._real and await self._watch_store()
        if changed:
            self._changed()
            self._watch_closely()
        if self._worker.live and (changed or self._renewal_is_due()):
            await self._renew()
        if self._suspended:
            # Only now: an attempt whose lease went to another engine must not poll once more.
            self._suspended = False
            self._hosts.wake_all()
        if self._telemetry.dirty:
            await self.flush()

    def _watch_closely(self) -> None:
        if self._alert is None and not self._stopped:
            self._alert = asyncio.get_running_loop().create_task(self._stay_alert())
            self._alert.add_done_callback(self._calm_down)

    def _calm_down(self, _: asyncio.Task[None]) -> None:
        self._alert = None

    async def _stay_alert(self) -> None:
        """Watch a store that another process works on, until it has been quiet for a while."""
        quiet = 0
        while quiet < ALERT_LOOKS:
            await asyncio.sleep(ALERT_SECONDS)
            if await self._watch_store():
                self._changed()
                quiet = 0
            else:
                quiet += 1

    async def _watch_store(self) -> bool:
        try:
            changed = await self._provider.watch()
        except Exception as error:  # noqa: BLE001 - whatever a store raises
            self._tell(error)
            if isinstance(error, ProviderError) and not error.retryable:
                self._lost(error)
            return False
        self._lost(None)
        return changed

    def _renewal_is_due(self) -> bool:
        # A tenth early, for a timer's last digit must not decide over half a lease.
        passed = asyncio.get_running_loop().time() - self._renewed
        return self._overdue or passed >= 0.9 * self._renew_interval

    async def _renew(self) -> None:
        began = asyncio.get_running_loop().time()
        try:
            await self._worker.renew()
            self._renewed = began
            self._overdue = False
        except Exception as error:  # noqa: BLE001 - whatever a store raises
            self._tell(error)
            self._overdue = True

    def _observe_clocks(self) -> None:
        self._telemetry.look_at_wall_clock()
        match self._watch.observe(host_readings()):
            case Suspended(seconds):
                self._overdue = self._suspended = True
                self._telemetry.record("", "", "suspended", payload={"seconds": seconds})
                for attempt in list(self._worker.live.values()):
                    attempt.record("suspended", {"seconds": seconds})
            case Stepped(seconds):
                self._telemetry.record("", "", "clock_stepped", payload={"seconds": seconds})
            case None:
                pass

    def _tell(self, error: BaseException) -> None:
        text = f"upkeep: {type(error).__name__}: {error}"
        self._telemetry.record("", "", "engine_error", payload={"error": text}, size=len(text))
