"""What went wrong in PostgreSQL, in words that name the store and the fix."""

from __future__ import annotations

import psycopg

from dexnb.errors import ProviderError
from dexnb.providers.postgres.place import Place

# Classes of SQLSTATE, see "PostgreSQL Error Codes" in its manual.
_CONNECTION = ("08", "57P0", "25P03", "25P04", "25006")
_PASSING = (*_CONNECTION, "40", "53", "55P03", "57014", "58")
_OF_THE_SERVER = (*_PASSING, "28", "3D", "42", "XX", "0A")
_CONSTRAINTS = {
    "work_of_run": "a Step execution of a run has one work item at a time, and this one has one",
    "runs_run_id": "a run id is used once, and this run exists already",
    "runs_open": "a flow id has one open run at a time, and somebody else was faster",
}
_WORDS = {
    "25006": "is read-only, as a standby is; connect to the primary server",
    "28": "refuses the user or the password; check both, and pg_hba.conf",
    "3D": "does not exist; create the database, or give another name",
    "42501": "may not be used like this by the user; grant what the text names, or have the schema "
    "made by its owner",
    "42P01": "lacks a table; was the schema dropped while it was in use? Open it anew",
    "3F": "lacks its schema; was it dropped while it was in use? Open it anew",
    "53300": "has no connection left (each engine uses three); raise max_connections",
    "53100": "has a full disk; free some space",
    "54000": "cannot keep a name so long; ids and names may have about 2,600 bytes",
}

# libpq gives no SQLSTATE for a connection that was refused, only the server's words.
_REFUSALS = {
    "does not exist": "3D",
    "authentication failed": "28",
    "no pg_hba.conf entry": "28",
    "permission denied": "28",
    "too many clients": "53300",
    "remaining connection slots": "53300",
}


def _state(error: BaseException) -> str | None:
    """Give the SQLSTATE of an error, or what stands for it."""
    if not isinstance(error, psycopg.Error) or error.sqlstate is not None:
        return error.sqlstate if isinstance(error, psycopg.Error) else None
    text = str(error)
    if "FATAL" not in text:
        return None
    return next((code for words, code in _REFUSALS.items() if words in text), None)


def is_lost(error: BaseException) -> bool:
    """Tell whether the connection is gone, or of no use any more."""
    if (state := _state(error)) is not None:
        return state.startswith(_CONNECTION)
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | OSError)


def is_passing(error: BaseException) -> bool:
    """Tell whether the same thing may work soon."""
    if isinstance(error, psycopg.errors.UniqueViolation):
        # The other start was committed between the look and the insert: now it is seen.
        return error.diag.constraint_name == "runs_open"
    if (state := _state(error)) is not None:
        return state.startswith(_PASSING)
    return is_lost(error)


def blames_the_server(error: BaseException) -> bool:
    """Tell whether every operation would fail alike."""
    if (state := _state(error)) is not None:
        return state.startswith(_OF_THE_SERVER)
    return is_lost(error)


def provider_error(operation: str, place: Place, error: BaseException) -> ProviderError:
    """Give the error that the caller of an operation sees.

    Args:
        operation: The contract's method.
        place: The store, whose password is not shown.
        error: What happened.
    """
    if isinstance(error, ProviderError):
        return error
    failure = ProviderError(operation, _message(place, error), retryable=is_passing(error))
    failure.__cause__ = error
    return failure


def _message(place: Place, error: BaseException) -> str:
    name, text = place.name, place.hide(" ".join(str(error).split())) or type(error).__name__
    if isinstance(error, psycopg.Error):
        constraint = _CONSTRAINTS.get(error.diag.constraint_name or "")
        if constraint is not None:
            return f"{name}: {constraint}"
        state = _state(error) or ""
        words = next((words for code, words in _WORDS.items() if state.startswith(code)), "")
        if words:
            return f"{name} {words} ({text})"
    if is_lost(error):
        return f"{name} cannot be reached; check that the server runs and the address ({text})"
    return f"{name}: {text}"
