"""Badges: how many findings there are about a node, and what they say under the pointer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dexnb.graph.drawing import shapes
from dexnb.model.finding import SEVERITIES, Finding

_HALF = 8.0
_MOST_TOLD = 6


def by_node(findings: Iterable[Finding], known: Mapping[str, object]) -> dict[str, list[Finding]]:
    """Sort findings by the node that carries their badge; those about no known node under ""."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.node if finding.node in known else "", []).append(finding)
    return found


def badges(findings: Iterable[Finding], x: float, y: float) -> str:
    """Draw one badge for each severity, from the left, around this height."""
    parts = []
    for severity in SEVERITIES:
        group = [finding for finding in findings if finding.severity == severity]
        if not group:
            continue
        words = str(len(group)) if len(group) < 100 else "99+"  # noqa: PLR2004 - room for two
        width = 2 * _HALF + max(0, len(words) - 1) * 6
        drawn = shapes.rect(f"b {severity}", x, y - _HALF, width, 2 * _HALF, _HALF)
        drawn += shapes.text("stt", x + width / 2, y + 3.5, words, middle=True)
        parts.append(shapes.titled(drawn, _told(group)))
        x += width + 3
    return "".join(parts)


def _told(group: list[Finding]) -> str:
    lines = [f"{each.code} {each.name}: {each.message}" for each in group[:_MOST_TOLD]]
    more = len(group) - _MOST_TOLD
    return " · ".join(lines + ([f"and {more} more"] if more > 0 else []))
