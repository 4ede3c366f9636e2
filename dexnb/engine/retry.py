"""What follows a failed attempt: another one, or the end of the Step. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from dexnb.clock import ClockRefusal
from dexnb.engine.attempt import Attempt, Payload
from dexnb.errors import ContextCallError, DefinitionError, DocumentError, LoopBoundError
from dexnb.flow.mapping import failure_of, map_recovery
from dexnb.model.decision import Failure
from dexnb.model.json_text import to_text
from dexnb.model.message import StepFailed
from dexnb.providers import NewWorkItem

START_TO_CLOSE = Failure("StartToClose", "the attempt ran longer than its execute_method_timeout")
WAIT_START_TO_CLOSE = Failure(
    "StartToClose", "the attempt ran longer than its wait_for_method_timeout"
)
HEARTBEAT = Failure("Heartbeat", "the attempt was silent for longer than its heartbeat_timeout")
SCHEDULE_TO_CLOSE = Failure("ScheduleToClose", "no retry fits into total_duration any more")
WORKER_LOST = Failure("WorkerLost", "the engine that ran the attempt was lost")

_LASTING = (DefinitionError, ContextCallError, DocumentError, LoopBoundError, ClockRefusal)
TIMEOUTS = frozenset({"StartToClose", "Heartbeat", "ScheduleToClose", "WorkerLost"})


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """What a failed attempt's acknowledgement writes: a retry, or the message that it is over."""

    failure: Failure
    delay: float = 0.0
    retry: NewWorkItem | None = None
    message: StepFailed | None = None


def failure_from_error(error: BaseException) -> tuple[Failure, bool]:
    """Name an exception, and tell whether trying again could help.

    Mistakes in a definition, values that cannot be stored, stored text that cannot be read and
    objects of another loop are the same at every attempt.
    """
    return failure_of(error), not isinstance(error, _LASTING)


def after_failure(
    attempt: Attempt,
    failure: Failure,
    *,
    retryable: bool,
    now: float,
    after_seconds: float | None = None,
) -> AfterFailure:
    """Decide between a retry and the end of the Step.

    Args:
        attempt: The attempt that failed.
        failure: Why.
        retryable: Whether another attempt could help.
        now: Store time.
        after_seconds: What replaces the policy's next delay.
    """
    item, retry = attempt.item, attempt.retry
    failure = _with_last_error(failure, attempt.payload)
    elapsed = now - (item.first_attempt_at or now)
    delay = retry.delay_after(item.attempt) if after_seconds is None else after_seconds
    if retryable and retry.allows_another(item.attempt, elapsed, delay):
        return AfterFailure(failure, delay, retry=_retry(attempt, failure, now + delay))
    attempts_left = not retry.maximum_attempts or item.attempt < retry.maximum_attempts
    if retryable and attempts_left:
        failure = replace(SCHEDULE_TO_CLOSE, last_error=failure)
    method = attempt.payload.method
    recovery = map_recovery(attempt.settings, attempt.flow) if method == "execute" else None
    failed = StepFailed(item.step_execution_id, item.attempt, failure, recovery, method)
    return AfterFailure(failure, message=failed)


def _retry(attempt: Attempt, failure: Failure, visible_at: float) -> NewWorkItem:
    own_error = failure.last_error if failure.error_type in TIMEOUTS else failure
    payload = {
        **asdict(attempt.payload),
        "last_error": None if own_error is None else asdict(own_error),
    }
    return replace(
        attempt.item,
        payload=to_text(payload),
        attempt=attempt.item.attempt + 1,
        checkpoint=attempt.checkpoint,
        visible_at=visible_at,
    )


def _with_last_error(failure: Failure, payload: Payload) -> Failure:
    if failure.error_type in TIMEOUTS and failure.last_error is None:
        return replace(failure, last_error=payload.last_error)
    return failure
