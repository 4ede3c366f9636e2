"""From an address to a runtime: the only module that names every backend."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary, WeakValueDictionary

from dexnb import engine
from dexnb.clock import Clock
from dexnb.engine import RuntimeOptions, Session
from dexnb.errors import DefinitionError
from dexnb.flow.codecs import CodecRegistry, codecs_of
from dexnb.flow.flow import Flow
from dexnb.model.arguments import of_type
from dexnb.model.shown import LONGEST, cut, shown
from dexnb.providers import MemoryProvider, Provider

MEMORY = "memory:"
FOLDER = ".dexnb"

# An open session keeps itself alive until the interpreter ends; a closed one need not stay.
_sessions: WeakValueDictionary[tuple[str, str], Session] = WeakValueDictionary()
_users: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
"""How many still use a session: clients until they are closed, and calls of `open` for good."""

_lock = threading.Lock()


class Runtime(engine.Runtime):
    """Runs Flows on the running loop: `async with dexnb.Runtime("builds.db") as rt: ...`.

    Args:
        where: What `dexnb.open` takes, or a Provider of your own; None for the default file.
        options: Settings; defaults by default.
        own_step_thread: Run async Steps on a thread of their own, apart from the engine.
        codecs: Codecs of your own, for types that cannot be stored by themselves.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | Provider | None = None,
        *,
        options: RuntimeOptions | None = None,
        own_step_thread: bool = False,
        codecs: CodecRegistry | None = None,
    ) -> None:
        """Prepare; entering the block starts."""
        name = ""
        if isinstance(where, Provider):
            provider = where
        else:
            name, make = provider_maker(where)
            provider = make()
        super().__init__(provider, options=options, own_step_thread=own_step_thread, codecs=codecs)
        if name:
            self.name = str(name)


class Client(engine.Client):
    """Starts Flows and talks to their runs: `client = dexnb.Client("builds.db")`.

    Methods and options are Dex's. The constructor is not: there are no registry, blob cache and
    server address to give, because the session has the Flows' code and the store.

    Args:
        where: A session, or what `dexnb.open` takes: a file or `memory:`, the default file for
            None. A session that clients alone have opened is closed with the last of them.
        flows: Flows to register, so that their open runs go on and their RPCs can be called.
        codecs: Codecs of your own, as `dexnb.open` takes them.
    """

    def __init__(
        self,
        where: Session | str | os.PathLike[str] | None = None,
        *,
        flows: Iterable[Flow[Any]] = (),
        codecs: CodecRegistry | None = None,
    ) -> None:
        """Open what is not open yet.

        Raises:
            DefinitionError: The address, `flows` or `codecs` cannot be used.
            FlowDefinitionError: A Flow cannot be used; lists every problem.
            ProviderError: The store cannot be opened.
        """
        if isinstance(where, Session):
            super().__init__(where, flows=flows, codecs=codecs)
            return
        session = open(where, codecs=codecs)
        release = partial(_release, session)
        try:
            super().__init__(session, flows=flows, release=release)
        except BaseException:
            release()
            raise


def open(
    where: str | os.PathLike[str] | None = None,
    *,
    clock: Clock | None = None,
    options: RuntimeOptions | None = None,
    codecs: CodecRegistry | None = None,
) -> Session:
    """Open a store and run its Flows on threads in the background.

    Opening the same file on the same clock again, as re-running a cell does, gives the same
    session. Each `memory:` is a store of its own.

    Args:
        where: A file, `memory:` or a server's address (`redis://host:6379/0`, `rediss://`,
            `valkey://`, `unix:///path`, `postgresql://user:password@host/database`); by default
            `.dexnb/<notebook or script>.db`.
        clock: How time passes; real by default.
        options: Settings; defaults by default.
        codecs: Codecs of your own, for types that cannot be stored by themselves. A session that is
            open takes them too, each in place of an earlier one for its type.

    Raises:
        DefinitionError: The address or the codecs cannot be used, or the file is open with other
            options.
        ProviderError: The store cannot be opened.
    """
    clock = (
        Clock.real() if clock is None else of_type(clock, Clock, "clock", "Clock.real() or another")
    )
    if options is not None:
        of_type(options, RuntimeOptions, "options", "RuntimeOptions(...)")
    given = codecs_of(codecs)
    name, make = provider_maker(where, clock)
    with _lock:
        session = _session(name, clock, make, options)
        _users[session] = _users.get(session, 0) + 1
    if given:
        session.register_codecs(given)
    return session


def _session(
    name: str, clock: Clock, make: Callable[[], Provider], options: RuntimeOptions | None
) -> Session:
    if name == MEMORY:
        return Session(make, clock=clock, options=options, name=name)
    at = name if isinstance(name, StoreAddress) else os.path.realpath(name)
    key, name = (str(at), clock.identity), str(name)
    session = _sessions.get(key)
    if session is not None and session.is_broken:
        # Its file was taken away; what stands there now is another store.
        session.close()
    if session is None or not session.is_open:
        session = _sessions[key] = Session(make, clock=clock, options=options, name=name)
    if options is not None and options != session.options:
        message = (
            f"{name} is open already, with other options: change them at `.options` of that "
            "runtime, or close() it first"
        )
        raise DefinitionError(message)
    return session


def _release(session: Session) -> None:
    """End a client's use of a session, and the session if that was the last one."""
    with _lock:
        _users[session] -= 1
        if _users[session]:
            return
        # Whoever opens the file from now on gets another session, not one that is about to end.
        for key in [key for key, known in _sessions.items() if known is session]:
            del _sessions[key]
    session.close()


def provider_maker(
    where: str | os.PathLike[str] | None, clock: Clock | None = None
) -> tuple[str, Callable[[], Provider]]:
    """Give a store's name, and what makes its provider.

    Raises:
        DefinitionError: The address names no store.
    """
    name = default_file(clock or Clock.real()) if where is None else _text(where)
    if name in (MEMORY, ":memory:"):
        return MEMORY, MemoryProvider
    scheme, slashes = _scheme(name)
    if scheme in _SERVERS and slashes == "//":
        return _SERVERS[scheme](scheme + name[len(scheme) :])
    if scheme in _SERVERS or (slashes and scheme != "sqlite"):
        raise _no_store(scheme, slashes)
    path = os.path.expanduser(  # noqa: PTH111 - Path's raises for a user that does not exist
        re.sub(r"^sqlite:(///?)?", "", name, flags=re.IGNORECASE)
    )
    if not path:
        message = f"the address {shown(name)} names no file: give a path such as builds.db"
        raise DefinitionError(message)

    def make() -> Provider:
        # Imported when a file is opened, so that `import dexnb` stays light.
        from dexnb.providers.sqlite import SqliteProvider

        return SqliteProvider(path)

    return path, make


def _scheme(name: str) -> tuple[str, str]:
    """Give what an address begins with and the slashes behind it, or nothing."""
    # A single letter is a drive.
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+):(//?)?", name)
    return ("", "") if found is None else (found[1].lower(), found[2] or "")


def _no_store(scheme: str, slashes: str) -> DefinitionError:
    """Refuse what looks like an address; the rest of it is not repeated, it may be a password."""
    given = cut(scheme, LONGEST)
    if scheme in _SERVERS:
        example = _EXAMPLES.get(scheme, f"{scheme}://host")
        looks = f"{given}:{slashes}..."
        return DefinitionError(
            f"{looks} looks like an address: give {example}, or ./{looks} for a file"
        )
    return DefinitionError(
        f"no store is known for {given}:{slashes}...: give a file path, "
        f"sqlite:///path, memory: or one of {', '.join(f'{name}://' for name in _SERVERS)}"
    )


class StoreAddress(str):
    """The address of a server, whose password is for the store alone: shown without it.

    As a value it is the whole address; whatever prints it prints `shown`.
    """

    __slots__ = ("shown",)

    shown: str

    def __new__(cls, address: str, shown: str) -> Self:
        """Keep both."""
        made = super().__new__(cls, address)
        made.shown = shown
        return made

    def __str__(self) -> str:
        """Give what may be shown."""
        return self.shown

    def __repr__(self) -> str:
        """Give what may be shown."""
        return repr(self.shown)

    def __format__(self, spec: str) -> str:
        """Give what may be shown."""
        return format(self.shown, spec)


def _redis_maker(address: str) -> tuple[str, Callable[[], Provider]]:
    try:
        from dexnb.providers.redis import RedisProvider
    except ModuleNotFoundError as error:
        raise _missing(error, "redis", address) from error
    place = RedisProvider(address).place
    return StoreAddress(address, place), lambda: RedisProvider(address)


def _postgres_maker(address: str) -> tuple[str, Callable[[], Provider]]:
    try:
        from dexnb.providers.postgres import PostgresProvider
    except ImportError as error:  # psycopg's own one is raised where libpq is missing
        raise _missing(error, "psycopg", address, extra="postgres") from error
    place = PostgresProvider(address).place
    return StoreAddress(address, place.name), lambda: PostgresProvider(address)


def _missing(error: ImportError, package: str, address: str, extra: str = "") -> Exception:
    """Say what to install for an address, unless something else of ours is missing."""
    if (error.name or package).partition(".")[0] != package:
        return error
    scheme = address.partition("://")[0]
    return DefinitionError(
        f"{scheme}://... needs a package: pip install 'dexnb[{extra or package}]'"
    )


_SERVERS: dict[str, Callable[[str], tuple[str, Callable[[], Provider]]]] = {
    "redis": _redis_maker,
    "rediss": _redis_maker,
    "valkey": _redis_maker,
    "unix": _redis_maker,
    "postgres": _postgres_maker,
    "postgresql": _postgres_maker,
}
"""What makes the provider of a server, by the scheme of its address."""


_EXAMPLES = {
    "redis": "redis://host:6379/0",
    "unix": "unix:///path",
    "postgres": "postgresql://host/database",
    "postgresql": "postgresql://host/database",
}


def _text(where: Any) -> str:
    fix = "a file path, sqlite:///path, memory:, redis://host:6379/0 or postgresql://host/db"
    given = os.fspath(where) if isinstance(where, os.PathLike) else where
    name: str = of_type(given, str, "where", fix)
    try:
        usable = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise DefinitionError(f"where is {shown(name)}, which no file can be named: give {fix}")
    return name


def default_file(clock: Clock) -> str:
    """Name the file of this notebook or script; a clock that is not real has its own."""
    suffix = "" if clock.kind == "real" else f"-{re.sub('[^a-z0-9]+', '-', clock.identity)}"
    return str(Path(FOLDER) / f"{_program()}{suffix}.db")


def _program() -> str:
    # Jupyter's server tells its kernels the notebook's path by this variable.
    session = os.environ.get("JPY_SESSION_NAME", "")
    main = sys.modules.get("__main__")
    script = session or getattr(main, "__vsc_ipynb_file__", "") or getattr(main, "__file__", "")
    stem = Path(script or "").stem
    return re.sub(r"[^\w.-]+", "_", stem) or "dexnb"
