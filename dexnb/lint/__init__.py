"""Looks for what goes wrong in polling Flows, without running any of their work."""

from __future__ import annotations

from dexnb.lint.fixes import apply_fixes
from dexnb.lint.paths import LintReport, lint_paths
from dexnb.lint.registry import explain, rules
from dexnb.lint.rule import Rule
from dexnb.lint.runner import lint_flow
from dexnb.lint.settings import LintSettings

__all__ = [
    "LintReport",
    "LintSettings",
    "Rule",
    "apply_fixes",
    "explain",
    "lint_flow",
    "lint_paths",
    "rules",
]
