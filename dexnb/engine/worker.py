"""`Worker`: takes work items, runs their attempts under all their clocks, and acknowledges them.

Everything here runs on the control loop; Steps run on hosts and in daemon threads.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from dexnb.engine import capture, failure_log
from dexnb.engine.attempt import Attempt, Closing, Links, Payload
from dexnb.engine.attempt_ends import AttemptEnds, Told
from dexnb.engine.deadlines import Deadlines
from dexnb.engine.execute import Outcome
from dexnb.engine.live_knobs import LiveKnobs
from dexnb.engine.near_runs import NearRuns
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.patience import patiently
from dexnb.engine.retry import (
    HEARTBEAT,
    START_TO_CLOSE,
    WAIT_START_TO_CLOSE,
    WORKER_LOST,
    after_failure,
    failure_from_error,
)
from dexnb.engine.step_hosts import StepHosts
from dexnb.errors import DocumentError, ProviderError, RetryAfterError
from dexnb.flow.codecs import CODECS
from dexnb.flow.mapping import failure_of
from dexnb.flow.registry import Registry
from dexnb.model.decision import Failure
from dexnb.model.message import StepDone, StepFailed, encode_message
from dexnb.providers import NewMessage, NewWorkItem, Provider, WorkItem

ENDED = Closing("ended")
NO_CODE_DELAY = 0.1
POISON = "Poison"


class Worker:
    """The attempts of one engine.

    Args:
        provider: The store.
        registry: The code that can run.
        options: Slots, leases, grace.
        links: What attempts reach.
        hosts: Where Steps run.
        near: The states at hand, for the turn that a Step's end leads to.
        freed: Called when a slot has become free.
    """

    def __init__(
        self,
        provider: Provider,
        registry: Registry,
        options: RuntimeOptions,
        links: Links,
        hosts: StepHosts,
        near: NearRuns,
        freed: Callable[[], None],
    ) -> None:
        """Start with nothing running."""
        self._provider = provider
        self._registry = registry
        self._options = options
        self._links = links
        self._hosts = hosts
        self._near = near
        self._ends = AttemptEnds(provider, near, links.outbox)
        self._freed = freed
        self._deadlines = Deadlines(hosts, self.fail)
        self.knobs = LiveKnobs(provider, options, hosts, self._deadlines)
        self._stopping = False
        self.live: dict[str, Attempt] = {}
        self._by_run: dict[str, dict[str, Attempt]] = {}
        self._concluding: set[asyncio.Task[None]] = set()
        self._moved = asyncio.Event()

    @property
    def free_slots(self) -> int:
        """Count the attempts that may still be begun."""
        return self._options.worker_concurrency - len(self.live)

    def begin(self, work: WorkItem) -> None:
        """Begin an attempt of a fetched work item."""
        if work.deliveries > 1 or self.knobs.may_be_behind(work.item):
            self._spawn(self._begin_again(work))
        else:
            self._begin(work)

    async def _begin_again(self, work: WorkItem) -> None:
        """Begin after a lost engine, or where knobs may have been turned elsewhere since.

        The run has to be looked at for that, and so it is at hand when the attempt ends.
        """
        with suppress(ProviderError, DocumentError):
            state = await self.knobs.catch_up(work.item.run_id)
            if state is not None and not state.closed:
                self._near.keep(state)
        if self._stopping:
            await self.give_back(work)
        else:
            self._begin(work)

    def of_run(self, run_id: str) -> list[Attempt]:
        """Give the attempts of a run that are under way."""
        return list(self._by_run.get(run_id, {}).values())

    def _begin(self, work: WorkItem) -> None:
        item = work.item
        flow = self._registry.get(item.flow_type)
        step = None if flow is None else flow.steps.get(item.step_type)
        if flow is None or step is None:
            # The code went away between the fetch and now; the item waits for it to come back.
            self._spawn(self.give_back(work, NO_CODE_DELAY))
            return
        try:
            attempt = Attempt(work, Payload.from_text(item.payload), flow, step, self._links)
        except DocumentError as error:
            self._spawn(self._take_poison(work, error))
            return
        self.knobs.bind(attempt)
        self.live[attempt.token] = attempt
        self._by_run.setdefault(item.run_id, {})[item.step_execution_id] = attempt
        if work.deliveries > 1 and not self._may_run_again(attempt):
            attempt.close(Closing("failed", WORKER_LOST))
            self._settle(attempt)
            return
        self._start(attempt)

    def _start(self, attempt: Attempt) -> None:
        item = attempt.item
        attempt.record(
            "attempt_started",
            {
                "deliveries": attempt.work.deliveries,
                "first_attempt_at": item.first_attempt_at,
                "checkpoint": item.checkpoint,
                "method": attempt.payload.method,
                **attempt.limits,
            },
        )
        capture.wrap_streams()
        context = contextvars.copy_context()
        context.run(capture.enter, attempt, self._options)
        context.run(CODECS.set, self._registry.codecs)
        self._deadlines.arm(attempt)
        self._hosts.begin(attempt, context)

    def _may_run_again(self, attempt: Attempt) -> bool:
        """Judge a redelivery like a retry: the attempt before it was lost with its engine."""
        retry, item = attempt.retry, attempt.item
        if retry.maximum_attempts and item.attempt > retry.maximum_attempts:
            return False
        elapsed = self._provider.clock.now() - (item.first_attempt_at or 0.0)
        return elapsed < retry.total_duration

    def ended(self, attempt: Attempt, outcome: Outcome) -> None:
        """Take a Step's outcome; on the control loop."""
        attempt.ended = True
        capture.end_lines(attempt)
        if attempt.closing is not None:
            if outcome.message is not None and attempt.closing.kind != "cancelled":
                attempt.note_late("result")
            self._settle(attempt)
            return
        attempt.close(ENDED)
        self._retire(attempt)
        if outcome.message is None:
            error = outcome.error or asyncio.CancelledError()
            failure, retryable = failure_from_error(error)
            self._fail(attempt, failure, retryable=retryable, error=error)
            return
        try:
            told = Told.of(outcome.message)
        except DocumentError as error:
            self._fail(attempt, failure_of(error), retryable=False)
            return
        done = outcome.message
        decision = done.decision.kind if isinstance(done, StepDone) else "wait"
        attempt.record("attempt_ended", {"decision": decision})
        self._spawn(self._acknowledge(attempt, told))

    def fail(self, attempt: Attempt, failure: Failure) -> None:
        """End an attempt by a deadline: fence it, cancel its Step, then go on without it."""
        if failure is START_TO_CLOSE and attempt.payload.method == "wait_for":
            failure = WAIT_START_TO_CLOSE
        closing = Closing("failed", failure)
        context = attempt.context if failure is HEARTBEAT else None
        if context is not None and (error := context.lost_outputs()) is not None:
            # Silent because its outputs went nowhere: say so, and do not try the same again.
            closing = Closing("failed", *failure_from_error(error))
        self._end(attempt, closing)

    def lose(self, tokens: frozenset[str]) -> None:
        """Give up attempts whose lease is gone: somebody else owns their items now."""
        for token in tokens:
            if (attempt := self.live.get(token)) is not None:
                self._end(attempt, Closing("lost"))

    def cancel(self, run_id: str, step_execution_ids: Iterable[str]) -> None:
        """End attempts that a turn has cancelled."""
        attempts = self._by_run.get(run_id, {})
        for step_execution_id in step_execution_ids:
            if (attempt := attempts.get(step_execution_id)) is not None:
                self._end(attempt, Closing("cancelled"))

    def cancel_run(self, run_id: str) -> None:
        """End all attempts of a run that is closed."""
        self.cancel(run_id, tuple(self._by_run.get(run_id, ())))

    async def hand_back(self, patience: float) -> None:
        """Stop all attempts and give their items back without using an attempt.

        Args:
            patience: Seconds after which a store that does not answer is left alone.
        """
        self._stopping = True
        for attempt in list(self.live.values()):
            self._end(attempt, Closing("handed_back"))
        await self.idle(patience)
        for task in self._concluding:
            task.cancel()
        if self._concluding:
            await asyncio.wait(self._concluding)

    async def idle(self, patience: float) -> None:
        """Wait until no attempt is under way, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self._concluding or self.live:
                    self._moved.clear()
                    await self._moved.wait()

    async def renew(self) -> None:
        """Renew the lease of every live attempt once; those that lost it are ended."""
        tokens = list(self.live)
        if not tokens:
            return
        extend = self._options.worker_lock_timeout.total_seconds()
        self.lose(await self._provider.renew_work_item_locks(tokens, extend))

    def _end(self, attempt: Attempt, closing: Closing) -> None:
        if attempt.closing is not None:
            return
        attempt.close(closing)
        self._hosts.cancel(attempt)
        grace = self._options.cancellation_grace.total_seconds()
        if attempt.timer is not None:
            attempt.timer.cancel()
        loop = asyncio.get_running_loop()
        attempt.timer = loop.call_later(grace, self._settle, attempt)

    def _settle(self, attempt: Attempt) -> None:
        """Conclude a closed attempt once: when its Step has ended, or its grace is over."""
        closing = attempt.closing
        if attempt.settled or closing is None:
            return
        self._retire(attempt)
        if closing.kind == "failed" and closing.failure is not None:
            self._fail(attempt, closing.failure, retryable=closing.retryable)
            return
        attempt.record("attempt_ended", {"reason": closing.kind})
        if closing.kind == "handed_back":
            self._spawn(self._hand_back(attempt))
        else:
            self._release(attempt)

    def _retire(self, attempt: Attempt) -> None:
        attempt.settled = True
        self._deadlines.disarm(attempt)

    def _fail(
        self,
        attempt: Attempt,
        failure: Failure,
        *,
        retryable: bool,
        error: BaseException | None = None,
    ) -> None:
        now = self._provider.clock.now()
        after_seconds = error.after_seconds if isinstance(error, RetryAfterError) else None
        after = after_failure(
            attempt, failure, retryable=retryable, now=now, after_seconds=after_seconds
        )
        attempt.record("attempt_ended", {"failure": asdict(failure)}, len(failure.detail))
        failure_log.tell(attempt, after, error)
        if after.retry is not None:
            attempt.record(
                "retry_scheduled", {"attempt": after.retry.attempt, "delay": after.delay}
            )
        told = None if after.message is None else Told.of(after.message)
        self._spawn(self._acknowledge(attempt, told, after.retry))

    async def _acknowledge(
        self, attempt: Attempt, told: Told | None, retry: NewWorkItem | None = None
    ) -> None:
        try:
            await self._ends.write(attempt, told, retry)
        finally:
            self._release(attempt)

    async def _hand_back(self, attempt: Attempt) -> None:
        try:
            await self._links.outbox.drained()
            turned = self.knobs.item_to_hand_back(attempt)
            if turned is None:
                await self.give_back(attempt.work)
            else:
                await self._provider.ack_work_item(attempt.token, None, turned)
        except ProviderError as error:
            attempt.record("engine_error", {"error": str(error)})
        finally:
            self._release(attempt)

    async def give_back(self, work: WorkItem, delay: float = 0.0) -> None:
        """Return an item without using an attempt."""
        provider, token = self._provider, work.token
        await patiently(lambda: provider.abandon_work_item(token, delay, ignore_attempt=True))

    async def _take_poison(self, work: WorkItem, error: DocumentError) -> None:
        """Put an undecodable item off, and fail its Step when it was tried often enough."""
        if work.deliveries <= self._options.max_attempts:
            await self._provider.abandon_work_item(work.token, 1.0)
            return
        failed = StepFailed(
            work.item.step_execution_id, work.item.attempt, Failure(POISON, str(error))
        )
        message = NewMessage(work.item.run_id, encode_message(failed))
        await self._provider.ack_work_item(work.token, message)

    def _release(self, attempt: Attempt) -> None:
        if self.live.pop(attempt.token, None) is not None:
            self._forget(attempt.item)
            self._hosts.release(attempt)
            self._freed()
            self._moved.set()

    def _forget(self, item: NewWorkItem) -> None:
        attempts = self._by_run.get(item.run_id, {})
        newest = attempts.get(item.step_execution_id)
        # The next attempt may have begun before this one was done with, and even ended before it.
        if newest is not None and newest.token not in self.live:
            del attempts[item.step_execution_id]
            if not attempts:
                del self._by_run[item.run_id]

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._concluding.add(task)
        task.add_done_callback(self._concluded)

    def _concluded(self, task: asyncio.Task[None]) -> None:
        self._concluding.discard(task)
        self._moved.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._links.telemetry.record("", "", "engine_error", payload={"error": repr(error)})
            self._freed()
