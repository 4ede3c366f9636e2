"""`Address`: where a server is and how to log in, from a URL; shown without what is secret."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from redis.asyncio.connection import (
    AbstractConnection,
    Connection,
    SSLConnection,
    UnixDomainSocketConnection,
    parse_url,
)
from redis.exceptions import RedisError

from dexnb.errors import DefinitionError
from dexnb.model.shown import LONGEST, cut, shown

SCHEMES = {"redis": Connection, "valkey": Connection, "rediss": SSLConnection}
EXAMPLES = "redis://host:6379/0, rediss://host:6379/0, valkey://host:6379/0 or unix:///path?db=0"

PREFIX = "dexnb"
"""What keys begin with where nobody asks for something else."""

DEFAULT_TIMEOUT = 5.0
"""Seconds for an answer, and for connecting, where the URL does not say."""

_TIMEOUTS = ("socket_timeout", "socket_connect_timeout")
_OPTIONS = {
    *_TIMEOUTS,
    "db",
    "username",
    "password",
    "socket_keepalive",
    "client_name",
    "ssl_ca_certs",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_cert_reqs",
    "ssl_check_hostname",
}
_PREFIX = re.compile(r"[^\s{}\x00-\x1f]{1,200}")


@dataclass(frozen=True, slots=True)
class Address:
    """A server, a database in it, and the prefix of our keys.

    Args:
        place: For people: without user, password and most options.
        prefix: What our keys begin with, in the braces of a hash tag.
        kind: The class of connection.
        options: What it is made with; holds the password, so it is never shown.
        asked_timeout: The socket timeout that the URL asks for, or None.
    """

    place: str
    prefix: str
    kind: type[AbstractConnection]
    options: dict[str, Any] = field(repr=False)
    asked_timeout: float | None = None

    @property
    def base(self) -> bytes:
        """Give what each key begins with."""
        return b"{" + self.prefix.encode() + b"}:"

    @property
    def channel(self) -> bytes:
        """Name the channel of hints; a server's channels know no databases, ours must."""
        return self.base + b"hints:%d" % int(self.options.get("db", 0))

    @property
    def secret(self) -> str:
        """Give the password, to be kept out of texts."""
        return str(self.options.get("password") or "")

    async def connect(self) -> AbstractConnection:
        """Make a connection; what fails leaves none open.

        Raises:
            RedisError: The server cannot be reached, or refuses the login.
        """
        connection = self.kind(**self.options)
        try:
            await connection.connect()  # type: ignore[no-untyped-call]  # as redis has it
        except BaseException:
            await disconnect(connection)
            raise
        return connection


async def disconnect(connection: AbstractConnection | None) -> None:
    """Close a connection, whatever state it is in."""
    if connection is not None:
        with suppress(RedisError, OSError):
            await connection.disconnect(nowait=True)


def parse(url: str, prefix: str) -> Address:
    """Read a URL; `?prefix=` in it stands instead of the given prefix.

    Raises:
        DefinitionError: It cannot be used; the text never holds more of it than scheme and option
            names.
    """
    scheme = url.partition("://")[0]
    if scheme not in (*SCHEMES, "unix"):
        raise _refusal(f"the scheme {cut(scheme, LONGEST)!r} is not known: give {EXAMPLES}")
    parts, options = _split(url)
    prefix = options.pop("prefix", prefix)
    if not _PREFIX.fullmatch(str(prefix)):
        raise _refusal(f"prefix is {shown(prefix)}: give letters, digits, - and _, no braces")
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        known = ", ".join(sorted({*_OPTIONS, "prefix"} - {"password"}))
        raise _refusal(f"its option {cut(unknown[0], LONGEST)!r} is not known: {known} are")
    given = _given(parts._replace(scheme=scheme.replace("valkey", "redis")), options)
    kind = given.pop("connection_class", SCHEMES.get(scheme, UnixDomainSocketConnection))
    asked = given.get("socket_timeout")
    for name in _TIMEOUTS:
        given.setdefault(name, asked or DEFAULT_TIMEOUT)
    given.setdefault("client_name", "dexnb")
    # The second version of the protocol is what every server and every redis-py speaks.
    given.update(protocol=2, decode_responses=False)
    return Address(_place(scheme, given, prefix), prefix, kind, given, asked)


def _split(url: str) -> tuple[Any, dict[str, Any]]:
    try:
        parts = urlsplit(url)
        options: dict[str, Any] = dict(parse_qsl(parts.query, keep_blank_values=True))
        _ = parts.port
    except ValueError:
        # What the parser says may hold a piece of the password.
        raise _refusal(f"it cannot be read: give {EXAMPLES}, a / in a password as %2F") from None
    return parts, options


def _given(parts: Any, options: dict[str, Any]) -> dict[str, Any]:
    database = parts.path.strip("/") if parts.scheme != "unix" else ""
    if database and not database.isdecimal():
        raise _refusal(f"its database is no number: give {EXAMPLES}")
    try:
        # An option is known by now, so its text is wrong in the option's value.
        given: dict[str, Any] = dict(
            parse_url(urlunsplit(parts._replace(query=urlencode(options))))
        )
    except ValueError as error:
        name = next((each for each in _OPTIONS if f"'{each}'" in str(error)), "options")
        raise _refusal(f"its {name} cannot be read: give a number") from None
    if any(not 0 < float(given.get(name, 1.0)) < float("inf") for name in _TIMEOUTS):
        raise _refusal("its socket timeouts are seconds above 0")
    if parts.scheme == "unix" and not given.get("path"):
        raise _refusal("unix:// names no socket: give unix:///path?db=0")
    return given


def _place(scheme: str, given: dict[str, Any], prefix: str) -> str:
    database = given.get("db", 0)
    kept = "" if prefix == PREFIX else f"prefix={prefix}"
    if scheme == "unix":
        return "&".join(filter(None, (f"unix://{given['path']}?db={database}", kept)))
    host = given.get("host", "localhost")
    host = f"[{host}]" if ":" in host else host
    place = f"{scheme}://{host}:{given.get('port', 6379)}/{database}"
    return "?".join(filter(None, (place, kept)))


def _refusal(reason: str) -> DefinitionError:
    return DefinitionError(f"the store's address cannot be used: {reason}")
