"""What went wrong at the server or on the way to it, in words that name the store and the fix."""

from __future__ import annotations

from redis import exceptions

from dexnb.errors import DocumentError, ProviderError
from dexnb.providers.redis.address import Address

_HOLDS_OTHER = (
    "holds something else under our keys, or what was kept there is damaged; "
    "give another prefix, or put back a copy"
)
_CLUSTER = "is one node of a cluster; give the address of a server that has all keys"

# By the first word of the server's answer: what to do, and whether the same call may work later.
_ANSWERS: dict[str, tuple[str, bool]] = {
    "BUSY": ("is held up by a script of somebody else; it answers again when that has ended", True),
    "LOADING": ("is still reading its data after a start; it answers soon", True),
    "OOM": ("has no memory left; raise its maxmemory, or free some", True),
    "READONLY": ("is a replica, which takes no writes; give the primary's address", True),
    "MASTERDOWN": ("is a replica that has lost its primary", True),
    "NOREPLICAS": ("waits for its replicas, as min-replicas-to-write asks", True),
    "MISCONF": ("cannot write its disk and takes no writes; see its log", True),
    "TRYAGAIN": ("is being moved; it answers soon", True),
    "CLUSTERDOWN": ("belongs to a cluster that is down", True),
    "NOSCRIPT": ("forgets its scripts", True),
    "MOVED": (_CLUSTER, False),
    "ASK": (_CLUSTER, False),
    "CROSSSLOT": (_CLUSTER, False),
    "WRONGTYPE": (_HOLDS_OTHER, False),
    "NOPERM": ("does not allow this user what dexnb needs; widen its ACL", False),
}
_CLASSES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.BusyLoadingError, "LOADING"),
    (exceptions.OutOfMemoryError, "OOM"),
    (exceptions.ReadOnlyError, "READONLY"),
    (exceptions.MasterDownError, "MASTERDOWN"),
    (exceptions.ClusterDownError, "CLUSTERDOWN"),
    (exceptions.TryAgainError, "TRYAGAIN"),
    (exceptions.NoScriptError, "NOSCRIPT"),
    (exceptions.AskError, "MOVED"),
    (exceptions.NoPermissionError, "NOPERM"),
)
_REFUSED_LOGIN = (
    exceptions.AuthenticationError,
    exceptions.AuthorizationError,
    exceptions.AuthenticationWrongNumberOfArgsError,
)
_LOST = (exceptions.ConnectionError, exceptions.TimeoutError, OSError, EOFError)


def loses_connection(error: BaseException) -> bool:
    """Tell whether the way to the server has to be made anew."""
    return isinstance(error, (*_LOST, exceptions.ReadOnlyError, exceptions.InvalidResponse))


def provider_error(operation: str, address: Address, error: BaseException) -> ProviderError:
    """Give the error that the caller of an operation sees."""
    if isinstance(error, ProviderError):
        return error
    if isinstance(error.__cause__, exceptions.RedisError):
        # A refusal during the login comes wrapped as a lost connection.
        error = error.__cause__
    words, retryable = _judged(operation, error)
    detail = _without(address.secret, str(error))
    failure = ProviderError(operation, f"{address.place} {words} ({detail})", retryable=retryable)
    if detail == str(error):
        failure.__cause__ = error
    else:
        failure.__suppress_context__ = True
    return failure


def _judged(operation: str, error: BaseException) -> tuple[str, bool]:
    if isinstance(error, DocumentError):
        return _HOLDS_OTHER, False
    if isinstance(error, _REFUSED_LOGIN):
        # A server whose password changes under us has done nothing, and may change it back.
        return "refuses the login; give user and password in the address", operation != "open"
    word = _word(error)
    if word in _ANSWERS:
        return _ANSWERS[word]
    if isinstance(error, _LOST):
        return "cannot be reached, or did not answer in time; see that it runs", True
    return "refused what was asked", False


def _word(error: BaseException) -> str:
    for kind, word in _CLASSES:
        if isinstance(error, kind):
            return word
    # A script's own failure comes with the word inside its text.
    words = str(error).replace(":", " ").split()
    return next((word for word in words if word in _ANSWERS), "")


def _without(secret: str, text: str) -> str:
    return text.replace(secret, "***") if secret else text
