"""Findings as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dexnb.model.finding import Finding


def as_json(findings: Sequence[Finding], files: int) -> str:
    """Write `{"files": ..., "findings": [...]}`; each finding as `Finding.to_json` gives it."""
    document = {"files": files, "findings": [finding.to_json() for finding in findings]}
    return json.dumps(document, indent=2, allow_nan=False)
