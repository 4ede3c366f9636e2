"""Searching runs: the fields of a query, and the pages of what it finds.

Every run has `flow_id`, `run_id`, `flow_type`, `status`, `started_at` and `closed_at`. Beside them
stand the search indexes of the registered Flows' Attributes, by their index key. How values are
compared follows from the index:

- KEYWORD, and the texts above: letter by letter.
- FULL_TEXT: `=` holds if every word of the operand stands in the value, in any case.
- KEYWORD_ARRAY, and an AttributeMap: a test holds if it does for any one item.
- INT, DOUBLE: as numbers. BOOL: true or false, by `=` and `!=` alone.
- DATETIME, and the two times above: a text in ISO form, in UTC unless it says otherwise, or
  seconds since the epoch.

`!=` holds wherever `=` does not, also where there is no value; the others need one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from dexnb.engine.flow_info import SearchFlowEntry, SearchFlowsPage, moment
from dexnb.engine.search_query import TESTS, Comparison, Query, comparisons, holds, parse, pinned
from dexnb.errors import DefinitionError
from dexnb.flow.attribute import Attribute, AttributeMap
from dexnb.flow.attribute_index import IndexType
from dexnb.flow.physical import instance_of, whole_map
from dexnb.flow.registry import RegisteredFlow
from dexnb.model.arguments import of_type, whole
from dexnb.model.run_state import RunState, RunStatus
from dexnb.model.shown import shown
from dexnb.providers import RunRecord

if TYPE_CHECKING:
    from dexnb.engine.engine import Engine

MOST_FOUND = 1000
"""Runs of the largest page."""

CHUNK = 100
"""Runs that are read from the store at once."""

Kind = Literal["text", "words", "number", "bool", "time"]

_KINDS: dict[IndexType, Kind] = {
    IndexType.KEYWORD: "text",
    IndexType.KEYWORD_ARRAY: "text",
    IndexType.FULL_TEXT: "words",
    IndexType.INT: "number",
    IndexType.DOUBLE: "number",
    IndexType.BOOL: "bool",
    IndexType.DATETIME: "time",
}
_RUN_FIELDS: dict[str, Kind] = {
    "flow_id": "text",
    "run_id": "text",
    "flow_type": "text",
    "status": "text",
    "started_at": "time",
    "closed_at": "time",
}
_WANTED: dict[Kind, str] = {
    "text": "a text in quotes",
    "words": "a text in quotes, with = or !=",
    "number": "a number",
    "bool": "true or false, with = or !=",
    "time": "a text such as '2026-01-31T12:00:00+00:00', or seconds since the epoch",
}


async def search_flows(
    engine: Engine, query: str, page_size: int, next_page_token: str = ""
) -> SearchFlowsPage:
    """Find runs, newest first.

    Raises:
        DefinitionError: The query cannot be read, or names what no run has; or the size or the
            token is none.
    """
    whole(page_size, "page_size", least=1, most=MOST_FOUND)
    of_type(next_page_token, str, "next_page_token", "one that a page has given, or ''")
    found = parse(query)
    _check(found, tuple(engine.registry))
    status = pinned(found, "status")
    entries: list[SearchFlowEntry] = []
    await _check_token(engine, next_page_token)
    before = next_page_token
    while len(entries) <= page_size:
        read = partial(engine.provider.list_runs, status=status, limit=CHUNK, before=before)
        records = await engine.ask(read)
        with engine.registry.codecs.used():
            entries.extend(_found(engine, found, records))
        if len(records) < CHUNK:
            break
        before = records[-1].run_id
    page = tuple(entries[:page_size])
    return SearchFlowsPage(page, page[-1].run_id if len(entries) > page_size else "")


async def _check_token(engine: Engine, token: str) -> None:
    if token and await engine.record(run_id=token) is None:
        fix = "give one that a page has given, or ''"
        raise DefinitionError(f"next_page_token is {shown(token)}: {fix}")


def _found(engine: Engine, query: Query, records: Iterable[RunRecord]) -> Iterator[SearchFlowEntry]:
    for record in records:
        run = _Run(RunState.from_text(record.state), engine.registry.get(record.flow_type))
        if holds(query, run.fits):
            yield run.entry()


class _Run:
    def __init__(self, state: RunState, flow: RegisteredFlow | None) -> None:
        self.state = state
        self.indexed = [] if flow is None else _indexed(flow)

    def entry(self) -> SearchFlowEntry:
        state = self.state
        values = {key: self._value(attribute) for key, attribute, _ in self.indexed}
        return SearchFlowEntry(
            state.flow_id,
            state.run_id,
            state.flow_type,
            state.status,
            moment(state.started_at),
            None if state.closed_at is None else moment(state.closed_at),
            {key: value for key, value in values.items() if value not in (None, {})},
        )

    def fits(self, wanted: Comparison) -> bool:
        """Tell whether a comparison holds; for `!=`, whether its opposite does not."""
        if wanted.test == "!=":
            return not any(self._tests(wanted, "="))
        return any(self._tests(wanted, wanted.test))

    def _tests(self, wanted: Comparison, test: str) -> Iterator[bool]:
        for kind, value in self._values(wanted.field):
            operand = _operand(kind, wanted)
            if operand is None:
                continue
            if kind == "words":
                yield set(_words(operand)) <= set(_words(value))
            else:
                yield bool(TESTS[test](_comparable(kind, value), operand))

    def _values(self, name: str) -> Iterator[tuple[Kind, Any]]:
        if name in _RUN_FIELDS:
            value = getattr(self.state, name)
            if value is not None:
                yield _RUN_FIELDS[name], value
            return
        for key, attribute, kind in self.indexed:
            if key == name:
                value = self._value(attribute)
                several = value.values() if isinstance(attribute, AttributeMap) else [value]
                for one in several:
                    items = one if isinstance(one, list | tuple) else [one]
                    yield from ((kind, item) for item in items if item is not None)

    def _value(self, attribute: Attribute[Any] | AttributeMap[Any]) -> Any:
        documents = self.state.attributes
        if isinstance(attribute, AttributeMap):
            prefix = whole_map(attribute.name)
            return {
                instance_of(name): attribute.decode(document)
                for name, document in documents.items()
                if name.startswith(prefix)
            }
        document = documents.get(attribute.name)
        return None if document is None else attribute.decode(document)


_Indexed = tuple[str, Attribute[Any] | AttributeMap[Any], Kind]


def _indexed(flow: RegisteredFlow) -> list[_Indexed]:
    return [
        (attribute.index.index_key or attribute.name, attribute, _KINDS[attribute.index.type])
        for attribute in flow.persistence.attributes.values()
        if attribute.index is not None
    ]


def _check(query: Query, flows: Iterable[RegisteredFlow]) -> None:
    """Refuse a field that no run has, and an operand that it could never be compared with."""
    kinds: dict[str, set[Kind]] = {name: {kind} for name, kind in _RUN_FIELDS.items()}
    for flow in flows:
        for key, _, kind in _indexed(flow):
            # A run's own fields hide an index of their name.
            if key not in _RUN_FIELDS:
                kinds.setdefault(key, set()).add(kind)
    for each in comparisons(query):
        if each.field not in kinds:
            known = ", ".join(sorted(kinds))
            fix = f"known are {known}; register the Flow whose Attribute has this index"
            raise DefinitionError(f"search query: {shown(each.field)} is no field: {fix}")
        fitting = kinds[each.field]
        if all(_operand(kind, each) is None for kind in fitting):
            wanted = " or ".join(_WANTED[kind] for kind in sorted(fitting))
            raise DefinitionError(
                f"search query at {each.place}: {each.field} {each.test} {shown(each.operand)} "
                f"cannot be compared: give {wanted}"
            )
        if each.field == "status" and each.operand not in get_args(RunStatus):
            known = ", ".join(get_args(RunStatus))
            raise DefinitionError(
                f"search query at {each.place}: status is one of {known}, not {shown(each.operand)}"
            )


def _operand(kind: Kind, wanted: Comparison) -> Any:
    """Give an operand as values of a kind are compared with it; None where they cannot be."""
    operand = wanted.operand
    if kind in ("words", "bool") and wanted.test not in ("=", "!="):
        return None
    if kind == "bool":
        return operand if isinstance(operand, bool) else None
    if isinstance(operand, bool):
        return None
    if kind in ("text", "words"):
        return operand if isinstance(operand, str) else None
    if kind == "number" or isinstance(operand, int | float):
        return None if isinstance(operand, str) else operand
    try:
        return _epoch(datetime.fromisoformat(operand))
    except ValueError:
        return None


def _comparable(kind: Kind, value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if kind == "text":
        return str(value)
    if kind == "time" and isinstance(value, date):
        return _epoch(value)
    return float(value) if isinstance(value, Decimal) else value


def _epoch(moment: date) -> float:
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _words(text: Any) -> list[str]:
    return re.findall(r"\w+", str(text).casefold())
