"""Findings as workflow commands, which GitHub shows beside the lines of a change."""

from __future__ import annotations

from collections.abc import Sequence

from dexnb.model.finding import Finding

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def as_github(findings: Sequence[Finding], files: int) -> str:  # noqa: ARG001 - one shape for all
    """Write one command for each finding."""
    return "\n".join(map(_command, findings))


def _command(finding: Finding) -> str:
    place = finding.place
    properties = {"file": place.path, "title": f"{finding.code} {finding.name}"}
    # A cell's lines are not lines of the notebook's file.
    if place.line and not place.cell:
        properties |= {
            "line": str(place.line),
            "endLine": str(max(place.end_line, place.line)),
            "col": str(place.column + 1),
        }
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    cell = f"cell {place.cell} line {place.line}: " if place.cell else ""
    unsure = "cannot tell: " if finding.verdict == "cannot tell" else ""
    message = f"{cell}{unsure}{finding.message}"
    text = f"{message}\n{finding.hint}" if finding.hint else message
    return f"::{_LEVELS[finding.severity]} {given}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
