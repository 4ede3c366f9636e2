"""Failed attempts on the logger `dexnb`, so that a script does not retry for hours in silence."""

from __future__ import annotations

import logging
import sys
import traceback

from dexnb.engine.attempt import Attempt
from dexnb.engine.retry import AfterFailure

LOG = logging.getLogger("dexnb")


def tell(attempt: Attempt, after: AfterFailure, error: BaseException | None) -> None:
    """Warn of a failed attempt, with its traceback; it is an error when no other one follows.

    In a notebook nothing is said, because it would stand in whatever cell runs: the Lab shows it.
    """
    if _in_notebook():
        return
    failure = after.failure
    follows = "no other attempt follows" if after.retry is None else f"again in {after.delay:g} s"
    level = logging.ERROR if after.retry is None else logging.WARNING
    if LOG.isEnabledFor(level):
        what = f"{failure.error_type}: {failure.detail}; {follows}"
        trace = "" if error is None else "\n" + "".join(traceback.format_exception(error)).rstrip()
        text = f"{attempt.who}, attempt {attempt.item.attempt} failed: {what}{trace}"
        # Errors come from outside, and a text with half a character in it cannot be written.
        LOG.log(level, "%s", text.encode("utf-8", "backslashreplace").decode())


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None
