"""Findings as a notebook shows them: a table, and lines where there is no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from dexnb.lint.in_words import lines, summary, where
from dexnb.model.finding import Finding
from dexnb.model.markup import escaped

_LONGEST = 2000
_LEFT = "text-align:left"
_SIGNS = {"error": "✖", "warning": "▲", "note": "●"}
_COLOURS = {"error": "#c4314b", "warning": "#a15c00", "note": "#2a6fb0"}


class FindingsShown(Sequence[Finding]):
    """What a linter says, to look at and to go through.

    Args:
        findings: By place.
        read: What was looked at, as `3 files`.
    """

    def __init__(self, findings: Sequence[Finding], read: str) -> None:
        """Keep what was found."""
        self._findings = tuple(findings)
        self._read = read

    def __len__(self) -> int:
        """Count the findings."""
        return len(self._findings)

    @overload
    def __getitem__(self, place: int) -> Finding: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Finding]: ...

    def __getitem__(self, place: int | slice) -> Finding | Sequence[Finding]:
        """Give one finding, or a slice of them."""
        return self._findings[place]

    def __repr__(self) -> str:
        """Write them as `dexnb lint` does."""
        told = [line for finding in self._findings for line in lines(finding)]
        return "\n".join([*told, summary(self._findings, self._read)])

    def _repr_html_(self) -> str:
        total = escaped(summary(self._findings, self._read))
        if not self._findings:
            return f"<p>{total}</p>"
        head = "".join(
            f'<th style="{_LEFT}">{name}</th>'
            for name in ("", "Rule", "Where", "What, and what to do")
        )
        rows = "".join(map(_row, self._findings))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{total}</p>"


def _row(finding: Finding) -> str:
    cells = (f'<td style="{_LEFT}">{cell}</td>' for cell in _cells(finding))
    return f"<tr>{''.join(cells)}</tr>"


def _cells(finding: Finding) -> Iterator[str]:
    unsure = " (cannot tell)" if finding.verdict == "cannot tell" else ""
    sign, colour = _SIGNS[finding.severity], _COLOURS[finding.severity]
    yield f'<span style="color:{colour}" title="{finding.severity}">{sign}</span>'
    yield f"<code>{escaped(finding.code)}</code> {escaped(finding.name)}{unsure}"
    yield f'<code style="white-space:nowrap">{escaped(where(finding.place))}</code>'
    hint = f"<br><em>{escaped(finding.hint, _LONGEST)}</em>" if finding.hint else ""
    yield f"{escaped(finding.message, _LONGEST)}{hint}"
