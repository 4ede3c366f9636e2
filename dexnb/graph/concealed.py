"""Source text to be shown to people: literals that look like credentials are hidden in it."""

from __future__ import annotations

import ast
import io
import re
import token as kinds
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dexnb.errors import DocumentError
from dexnb.graph.redact import CREDENTIAL_WORDS, HIDDEN, looks_secret, names_secret
from dexnb.graph.source import parsed

# A match begins only where a word does, and looks only so far: no word may stall the reader.
_ASSIGNED = re.compile(
    rf"(?<![\w-])([\w-]{{0,200}}?(?:{CREDENTIAL_WORDS})[\w-]{{0,200}}\s{{0,200}}[=:]\s{{0,200}})"
    r"\S{0,200}\d\S*",
    re.IGNORECASE,
)
_BREAKS = r"\s\"'`,;()\[\]{}<>"
_WORD = re.compile(rf"(?<![^{_BREAKS}])[^{_BREAKS}]*[^{_BREAKS}.:!?]")
_LAYOUT = frozenset({kinds.NL, kinds.NEWLINE, kinds.INDENT, kinds.DEDENT, kinds.COMMENT})
_PATTERN_STARTS = frozenset({"FSTRING_START", "TSTRING_START"})
_PATTERN_ENDS = frozenset({"FSTRING_END", "TSTRING_END"})

_At = tuple[int, int]


class _Span(NamedTuple):
    """A literal: where it begins, where it ends, and its text."""

    start: _At
    end: _At
    text: str


def concealed_lines(text: str) -> list[str]:
    """Give the lines of a source, as many as there are, with what looks like a credential hidden.

    Hidden are literals in the form of a credential, every literal of a statement that speaks of
    credentials, and words of that form in comments and docstrings.

    Raises:
        DocumentError: The text is no Python, so that nothing in it can be told from a literal.
    """
    lines = text.split("\n")
    try:
        parsed(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise DocumentError(f"the source cannot be shown: {error}") from error
    found = [each for statement in _statements(tokens) for each in _hidden(statement)]
    for span in sorted(found, reverse=True):
        _put(lines, span)
    return lines


def _statements(tokens: Sequence[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    statement: list[tokenize.TokenInfo] = []
    for each in tokens:
        statement.append(each)
        if each.type == kinds.NEWLINE:
            yield statement
            statement = []
    yield statement


def _hidden(statement: Sequence[tokenize.TokenInfo]) -> Iterator[_Span]:
    """Give what of a statement is to be put in place of what stands there."""
    for each in statement:
        if each.type == kinds.COMMENT and (text := _masked(each.string)) != each.string:
            yield _Span(each.start, each.end, text)
    code = [each for each in statement if each.type not in _LAYOUT]
    told = all(each.type in (kinds.STRING, kinds.ENDMARKER) for each in code)
    every = not told and names_secret(" ".join(each.string for each in code))
    for literal in _literals(code):
        if told and (text := _masked(literal.text)) != literal.text:
            yield literal._replace(text=text)
        elif not told and (every or _is_secret(literal.text)):
            yield literal._replace(text=f'"{HIDDEN}"')


def _literals(code: Sequence[tokenize.TokenInfo]) -> Iterator[_Span]:
    """Give the texts of a statement; of one with expressions in it the whole."""
    depth, start, parts = 0, (0, 0), [""]
    for each in code:
        name = tokenize.tok_name[each.type]
        if name in _PATTERN_STARTS:
            depth += 1
            if depth == 1:
                start, parts = each.start, []
        if depth:
            parts.append(each.string)
        elif each.type == kinds.STRING:
            yield _Span(each.start, each.end, each.string)
        if name in _PATTERN_ENDS:
            depth -= 1
            if depth == 0:
                yield _Span(start, each.end, "".join(parts))


def _is_secret(literal: str) -> bool:
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError):
        value = literal.lstrip("rRbBuUfFtT").strip("\"'")
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return looks_secret(text) or any(map(looks_secret, _WORD.findall(text)))


def _masked(text: str) -> str:
    """Hide single words of a text for people: those of such a form, and what is set by name."""

    def word(match: re.Match[str]) -> str:
        return HIDDEN if looks_secret(match[0]) else match[0]

    return _WORD.sub(word, _ASSIGNED.sub(rf"\1{HIDDEN}", text))


def _put(lines: list[str], span: _Span) -> None:
    """Put a text in the place of a stretch; as many lines stay as there were."""
    (first, begin), (last, end) = span.start, span.end
    count = last - first + 1
    given = span.text.split("\n")
    given += [""] * (count - len(given))
    given[0] = lines[first - 1][:begin] + given[0]
    given[-1] += lines[last - 1][end:]
    lines[first - 1 : last] = given
