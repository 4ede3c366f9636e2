"""Applies the fixes of findings: per text all or nothing, and nothing that does not parse."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise

from dexnb.graph.source import parsed
from dexnb.model.finding import Edit, Finding, Place

_LINE_END = re.compile(r"\r\n|\r|\n")


def apply_fixes(
    findings: Iterable[Finding],
    read: Callable[[str, str], str],
    write: Callable[[str, str, str], None],
) -> list[Finding]:
    """Apply the fixes that do not get into each other's way; give the findings that were fixed.

    Of two fixes that overlap the first is applied: lint again for the other one. A fix whose edits
    are of several texts is applied to all of them or to none.

    Args:
        findings: What the linter has said; those without a fix are left alone.
        read: Gives the text of a path and a cell, as it was linted.
        write: Takes a path, a cell and the new text; called once for each that changes.
    """
    texts: dict[tuple[str, str], str] = {}
    accepted: dict[tuple[str, str], list[Edit]] = {}
    fixed: list[Finding] = []
    for finding in findings:
        edits = () if finding.fix is None else finding.fix.edits
        trial = {home: [*own] for home, own in accepted.items()}
        for edit in edits:
            trial.setdefault(_home(edit.place), []).append(edit)
        changed = {_home(edit.place) for edit in edits}
        for home in changed - texts.keys():
            texts[home] = read(*home)
        if changed and all(_holds(texts[home], trial[home]) for home in changed):
            accepted = trial
            fixed.append(finding)
    for home, own in accepted.items():
        write(*home, edited(texts[home], own))
    return fixed


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Give a text with edits that do not overlap."""
    # Not splitlines(): to Python a form feed or a Unicode separator ends no line.
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    for edit in sorted(edits, key=lambda edit: edit.place, reverse=True):
        place = edit.place
        begin = starts[place.line - 1] + place.column
        end = starts[place.end_line - 1] + place.end_column
        text = text[:begin] + edit.text + text[end:]
    return text


def _home(place: Place) -> tuple[str, str]:
    return place.path, place.cell


def _holds(text: str, edits: list[Edit]) -> bool:
    """Tell whether edits are inside the text, apart from each other, and leave Python behind."""
    last = len(_LINE_END.findall(text)) + 1
    ordered = sorted(edits, key=lambda edit: edit.place)
    if any(not 1 <= edit.place.line <= edit.place.end_line <= last for edit in ordered):
        return False
    for before, after in pairwise(ordered):
        one, other = before.place, after.place
        if (other.line, other.column) < (one.end_line, one.end_column) or one == other:
            return False
    try:
        parsed(edited(text, edits))
    except SyntaxError:
        return False
    return True
