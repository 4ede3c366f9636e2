"""The language in which runs are searched: comparisons, joined by AND, OR and parentheses.

    status = "RUNNING" AND (attempts >= 3 OR customer != 'ACME') AND started_at > "2026-01-31"

A comparison is a field, one of `= != < <= > >=`, and a text in quotes, a number, or true or false.
AND binds closer than OR; both may be written in small letters. Inside quotes a backslash takes the
next letter as it is. An empty query finds every run.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from dexnb.errors import DefinitionError
from dexnb.model.arguments import of_type
from dexnb.model.shown import shown

LONGEST_QUERY = 4096
DEEPEST = 32
"""Parentheses inside parentheses."""

Operand = str | float | bool

TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One test of a run.

    Args:
        field: What is looked at.
        test: One of `TESTS`.
        operand: What it is compared with.
        place: Where the operand begins in the query, from 1.
    """

    field: str
    test: str
    operand: Operand
    place: int


@dataclass(frozen=True, slots=True)
class Joined:
    """Queries of which all must hold, or any."""

    word: str
    parts: tuple[Query, ...]


Query = Comparison | Joined

EVERYTHING = Joined("AND", ())


def parse(text: Any) -> Query:
    """Read a query.

    Raises:
        DefinitionError: It is none; the text names the place.
    """
    of_type(text, str, "search query", "a text such as 'status = \"RUNNING\"', or ''")
    if len(text) > LONGEST_QUERY:
        message = f"search query has {len(text):,} letters: give at most {LONGEST_QUERY:,}"
        raise DefinitionError(message)
    if not text.strip():
        return EVERYTHING
    return _Parser(text).query()


def comparisons(query: Query) -> Iterator[Comparison]:
    """Go through every comparison of a query."""
    if isinstance(query, Comparison):
        yield query
        return
    for part in query.parts:
        yield from comparisons(part)


def holds(query: Query, test: Callable[[Comparison], bool]) -> bool:
    """Tell whether a query holds where `test` tells it of each comparison."""
    if isinstance(query, Comparison):
        return test(query)
    parts = (holds(part, test) for part in query.parts)
    return all(parts) if query.word == "AND" else any(parts)


def pinned(query: Query, field: str) -> str:
    """Give the one text that a field must have for the query to hold; empty if it is not so."""
    found = query.parts if isinstance(query, Joined) and query.word == "AND" else (query,)
    for part in found:
        if isinstance(part, Comparison) and (part.field, part.test) == (field, "="):
            return part.operand if isinstance(part.operand, str) else ""
    return ""


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])
    | (?P<word>[^\W\d][\w.\-]*)
    | (?P<test><=|>=|!=|=|<|>)
    | (?P<bracket>[()])
    )""",
    re.VERBOSE | re.DOTALL,
)
_Token = tuple[str, str, int]


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._read())
        self.next = 0
        self.depth = 0

    def query(self) -> Query:
        found = self._joined("OR")
        kind, word, place = self._token()
        if kind != "end":
            self._fail(word, place, "AND, OR or the end")
        return found

    def _joined(self, word: str) -> Query:
        parts = [self._part(word)]
        while self._is_word(word):
            self.next += 1
            parts.append(self._part(word))
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _part(self, word: str) -> Query:
        return self._joined("AND") if word == "OR" else self._term()

    def _term(self) -> Query:
        kind, word, place = self._take()
        if word == "(" and kind == "bracket":
            self.depth += 1
            if self.depth > DEEPEST:
                self._fail(word, place, f"at most {DEEPEST} parentheses inside one another")
            inside = self._joined("OR")
            kind, word, place = self._take()
            if word != ")" or kind != "bracket":
                self._fail(word, place, "AND, OR or )")
            self.depth -= 1
            return inside
        if kind != "word" or word.upper() in ("AND", "OR"):
            self._fail(word, place, "a field or (")
        field = word
        kind, test, place = self._take()
        if kind != "test":
            self._fail(test, place, f"one of {' '.join(TESTS)}")
        return Comparison(field, test, *self._operand())

    def _operand(self) -> tuple[Operand, int]:
        kind, word, place = self._take()
        if kind == "text":
            return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL), place
        if kind == "number":
            return (float(word) if re.search(r"[.eE]", word) else int(word)), place
        if kind == "word" and word.lower() in ("true", "false"):
            return word.lower() == "true", place
        return self._fail(word, place, "a text in quotes, a number, true or false")

    def _is_word(self, wanted: str) -> bool:
        kind, word, _ = self._token()
        return kind == "word" and word.upper() == wanted

    def _token(self) -> _Token:
        place = len(self.text) + 1
        return self.tokens[self.next] if self.next < len(self.tokens) else ("end", "", place)

    def _take(self) -> _Token:
        token = self._token()
        self.next += 1
        return token

    def _read(self) -> Iterator[_Token]:
        at, end = 0, len(self.text.rstrip())
        while at < end:
            found = _TOKEN.match(self.text, at)
            if found is None:
                rest = self.text[at:].lstrip()
                place = len(self.text) - len(rest) + 1
                quote = rest[0] in "\"'"
                what = "the quote that ends this text" if quote else "a field, a test or a value"
                self._fail(rest[:20], place, what)
            kind = str(found.lastgroup)
            yield kind, found[kind], found.start(kind) + 1
            at = found.end()

    def _fail(self, got: str, place: int, wanted: str) -> NoReturn:
        what = shown(got) if got else "the end"
        raise DefinitionError(
            f"search query at {place}: expected {wanted}, got {what} (in {shown(self.text)})"
        )
