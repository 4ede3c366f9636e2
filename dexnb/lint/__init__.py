"""Looks for what goes wrong in polling Flows, without running any of their work."""

from __future__ import annotations

from dexnb.lint.fixes import apply_fixes, edited
from dexnb.lint.paths import LintReport, files_of, lint_paths, lint_reading, lint_text
from dexnb.lint.registry import explain, rules
from dexnb.lint.rule import Rule
from dexnb.lint.runner import lint_flow
from dexnb.lint.settings import LintSettings

__all__ = [
    "LintReport",
    "LintSettings",
    "Rule",
    "apply_fixes",
    "edited",
    "explain",
    "files_of",
    "lint_flow",
    "lint_paths",
    "lint_reading",
    "lint_text",
    "rules",
]
