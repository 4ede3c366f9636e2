"""Failed attempts: in their run's telemetry, and for scripts on the logger `dexnb`."""

from __future__ import annotations

import logging
import traceback

from dexnb.engine.attempt import Attempt
from dexnb.engine.capture import in_notebook
from dexnb.engine.retry import AfterFailure
from dexnb.engine.user_traceback import TRACEBACK, user_traceback

LOG = logging.getLogger("dexnb")

MOST_FRAMES = 10


def tell(attempt: Attempt, after: AfterFailure, error: BaseException | None) -> None:
    """Tell of a failed attempt with its traceback, so that nobody retries for hours in silence.

    It is a warning, and an error when no other one follows. In a notebook only the run's telemetry
    has it, because it would stand in whatever cell runs: the Lab shows it.

    What cannot be told costs no more than that: an error's own text may raise, and Python fail over
    the lines of its code.
    """
    try:
        _tell(attempt, after, error)
    except Exception as broken:  # noqa: BLE001 - the attempt's end must be written in any case
        text = f"a failure cannot be told: {type(broken).__name__}: {broken}"
        attempt.record("engine_error", {"error": text}, len(text))


def _tell(attempt: Attempt, after: AfterFailure, error: BaseException | None) -> None:
    if error is not None:
        text = user_traceback(error)
        attempt.record("log", {"source": TRACEBACK, "line": text}, len(text))
    if in_notebook():
        return
    failure = after.failure
    follows = "no other attempt follows" if after.retry is None else f"again in {after.delay:g} s"
    level = logging.ERROR if after.retry is None else logging.WARNING
    if LOG.isEnabledFor(level):
        what = f"{failure.error_type}: {failure.detail}; {follows}"
        trace = "" if error is None else "\n" + "".join(traceback.format_exception(error)).rstrip()
        text = f"{attempt.who}, attempt {attempt.item.attempt} failed: {what}{trace}"
        # Errors come from outside, and a text with half a character in it cannot be written.
        text = text.encode("utf-8", "backslashreplace").decode()
        LOG.log(level, "%s", text, extra={"dexnb": _fields(attempt, after, error)})


def _fields(
    attempt: Attempt, after: AfterFailure, error: BaseException | None
) -> dict[str, object]:
    """Give the same for structured logs, without the lines of code that a traceback shows."""
    frames = [] if error is None else traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    return {
        "event": "attempt_failed",
        **attempt.names,
        "error": after.failure.error_type,
        "detail": after.failure.detail,
        "again_in": None if after.retry is None else after.delay,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }
