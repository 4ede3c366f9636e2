"""Findings as lines for people: place, code, what is wrong, what to do instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from dexnb.model.finding import SEVERITIES, Finding, Place
from dexnb.model.markup import printable

_LONGEST = 2000


def in_words(findings: Sequence[Finding], files: int) -> str:
    """Write every finding, and how many there are in how many files, with what `--fix` can do."""
    told = [line for finding in findings for line in lines(finding)]
    fixable = sum(finding.fix is not None for finding in findings)
    fixes = f"; --fix mends {fixable}" if fixable else ""
    read = f"{files} {'file' if files == 1 else 'files'}"
    return "\n".join([*told, f"{summary(findings, read)}{fixes}"])


def where(place: Place) -> str:
    """Write a place as editors and terminals link it: `path:line:column`."""
    parts = [place.path] if place.path else []
    if place.cell or not parts:
        # A live cell's label says by itself what it is.
        parts.append(f"cell {place.cell}" if parts else place.cell or "<cell>")
    if place.line:
        parts += [str(place.line), str(place.column + 1)]
    return ":".join(printable(part, _LONGEST) for part in parts)


def summary(findings: Sequence[Finding], read: str) -> str:
    """Count what was found in what was read; an empty list is told too."""
    if not findings:
        return f"no findings in {read}"
    counts = Counter(finding.severity for finding in findings)
    each = [
        f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}"
        for name in SEVERITIES
        if counts[name]
    ]
    unsure = sum(finding.verdict == "cannot tell" for finding in findings)
    told = f"; of these {unsure} cannot be told from the source" if unsure else ""
    return f"{', '.join(each)} in {read}{told}"


def lines(finding: Finding) -> Iterator[str]:
    """Write one finding: where and what, then what to do instead."""
    unsure = " (cannot tell)" if finding.verdict == "cannot tell" else ""
    what = f"{finding.severity} {finding.code} {finding.name}{unsure}"
    yield f"{where(finding.place)}: {what}: {printable(finding.message, _LONGEST)}"
    if finding.hint:
        yield f"    {printable(finding.hint, _LONGEST)}"
