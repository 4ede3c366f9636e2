"""Where a store is: the address of the server, and the schema. Passwords are never shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from dexnb.errors import DefinitionError

SCHEMA = "dexnb"
LONGEST_SCHEMA = 48
"""Bytes; with what is put before it a schema still names a channel."""

# Seconds and counts. A server that does not answer is given up by the calls' own deadlines, too.
_PATIENCE = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
_SHAPE = re.compile(r"(postgres(?:ql)?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?")
_PARAMETER = re.compile(r"[a-z_]{2,40}")
_FIX = (
    "write postgresql://user:password@host:port/database, with %40 for @, %2F for /, %3F for ? and "
    "%23 for # inside of names and passwords"
)


@dataclass(frozen=True)
class Place:
    """A schema of a database of a server.

    Args:
        name: The address to show: without password and parameters.
        schema: The schema.
        options: How libpq gets there.
    """

    name: str
    schema: str
    options: dict[str, Any] = field(repr=False)

    def hide(self, text: str) -> str:
        """Give a text, such as a server's, without the password."""
        secret = str(self.options.get("password") or "")
        return text.replace(secret, "***") if secret else text

    @property
    def channel(self) -> str:
        """Name the channel on which the engines of this store tell each other of news."""
        return f"dexnb.{self.schema}"


def place_of(url: Any, schema: Any) -> Place:
    """Read an address.

    Args:
        url: `postgresql://...`; a parameter `schema` overrides the other argument.
        schema: The schema; it is made where it is missing.

    Raises:
        DefinitionError: The address or the schema cannot be one. The address is not repeated, for
            what cannot be read may be part of a password.
    """
    match = _SHAPE.fullmatch(url) if isinstance(url, str) else None
    if match is None or match[2].count("@") > 1 or "@" in match[3]:
        raise _unreadable()
    scheme, authority, path, query = match[1], match[2], match[3], match[4] or ""
    given = dict(parse_qsl(query, keep_blank_values=True))
    schema = _checked(given.pop("schema", schema))
    # Spaces as %20: libpq takes a plus sign for itself.
    parameters = f"?{urlencode(given, quote_via=quote)}" if given else ""
    plain = f"{scheme}://{authority}{path}{parameters}"
    try:
        options = conninfo_to_dict(plain)
    except psycopg.Error:
        raise _unknown(given, f"{scheme}://{authority}{path}") or _unreadable() from None
    ports = str(options.get("port") or "").split(",")
    if any(port and not (port.isascii() and port.isdecimal()) for port in ports):
        raise _unreadable()
    return Place(_shown(options, schema), schema, {**_PATIENCE, **options})


def _unknown(given: Mapping[str, str], plain: str) -> DefinitionError | None:
    """Name a parameter that there is none of, unless it may be a part of a password."""
    known = [option.keyword.decode() for option in Conninfo.get_defaults()]
    name = next((name for name in given if name not in known), "")
    if not _PARAMETER.fullmatch(name) or any("@" in text for text in (*given, *given.values())):
        return None
    try:
        port = str(conninfo_to_dict(plain).get("port") or "")
    except psycopg.Error:
        return None
    if port and not port.isdecimal():
        return None
    alike = get_close_matches(name, ["schema", *known], 1, 0.75)
    fix = f"give {alike[0]}" if alike else "give schema or one of libpq's, such as connect_timeout"
    return DefinitionError(
        f"the PostgreSQL address has the parameter {name!r}, which is unknown: {fix}; {_FIX}"
    )


def _checked(schema: Any) -> str:
    fits = isinstance(schema, str) and 0 < len(schema.encode("utf-8", "replace")) <= LONGEST_SCHEMA
    if not fits or not schema.isprintable() or schema.startswith("pg_"):
        message = (
            f"schema is {schema!r:.80}: give a name of 1 to {LONGEST_SCHEMA} bytes "
            "that does not begin with pg_"
        )
        raise DefinitionError(message)
    return str(schema)


def _unreadable() -> DefinitionError:
    return DefinitionError(f"the PostgreSQL address cannot be read: {_FIX}")


def _shown(options: dict[str, Any], schema: str) -> str:
    user = f"{options['user']}@" if options.get("user") else ""
    host = options.get("host") or options.get("hostaddr") or "localhost"
    port = f":{options['port']}" if options.get("port") else ""
    return f"postgresql://{user}{host}{port}/{options.get('dbname') or ''}?schema={schema}"
