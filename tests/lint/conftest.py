"""What holds for all tests of the linter."""

from __future__ import annotations

import pytest

from dexnb.lint import runner


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a rule's fault fail the test, where users get a finding for it."""
    monkeypatch.setattr(runner, "RAISES_FAULTS", True)
