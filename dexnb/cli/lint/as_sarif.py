"""Findings as SARIF 2.1.0, which code hosts and editors read.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0. Its columns count from 1, a
notebook's cell has no lines of its own in a file there, and stands as a logical location.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from dexnb._version import __version__
from dexnb.lint.registry import pages
from dexnb.model.finding import Edit, Finding, Fix, Place

_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def as_sarif(findings: Sequence[Finding], files: int) -> str:  # noqa: ARG001 - one shape for all
    """Write one run with every rule's page and every finding."""
    known: list[dict[str, Any]] = [
        {
            "id": rule.code,
            "name": rule.name,
            "shortDescription": {"text": rule.page.partition("\n")[0]},
            "fullDescription": {"text": rule.page},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        }
        for rule in pages()
    ]
    places = {rule["id"]: number for number, rule in enumerate(known)}
    driver = {"name": "dexnb", "version": __version__, "rules": known}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, places) for finding in findings],
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _result(finding: Finding, rule_places: dict[str, int]) -> dict[str, Any]:
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        # SARIF's word for what a tool cannot settle.
        "kind": "fail" if finding.verdict == "found" else "review",
        "message": {"text": text},
        "locations": [_location(finding)],
    }
    if finding.verdict == "cannot tell":
        # A kind other than `fail` must have this level.
        result["level"] = "none"
    if finding.code in rule_places:
        result["ruleIndex"] = rule_places[finding.code]
    if finding.fix is not None and not finding.place.cell:
        result["fixes"] = [_fix(finding.fix)]
    return result


def _location(finding: Finding) -> dict[str, Any]:
    place = finding.place
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.path)}}
    if place.line and not place.cell:
        physical["region"] = _region(place)
    names = [finding.flow, finding.node.partition(":")[2]]
    logical = [{"fullyQualifiedName": ".".join(name for name in names if name) or finding.name}]
    if place.cell:
        logical.append({"name": f"cell {place.cell} line {place.line}"})
    return {"physicalLocation": physical, "logicalLocations": logical}


def _region(place: Place) -> dict[str, int]:
    region = {"startLine": place.line, "startColumn": place.column + 1}
    if place.end_line:
        region |= {"endLine": place.end_line, "endColumn": place.end_column + 1}
    return region


def _uri(path: str) -> str:
    pure = PurePath(path or "cell")
    # As bytes: a file's name need not be text that can be encoded.
    text = quote(os.fsencode(pure.as_posix()), safe="/")
    return f"file://{text}" if pure.is_absolute() else text


def _fix(fix: Fix) -> dict[str, Any]:
    by_path: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        by_path.setdefault(edit.place.path, []).append(edit)
    changes = [
        {
            "artifactLocation": {"uri": _uri(path)},
            "replacements": [
                {"deletedRegion": _region(edit.place), "insertedContent": {"text": edit.text}}
                for edit in edits
            ],
        }
        for path, edits in by_path.items()
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}
