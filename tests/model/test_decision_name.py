"""Decisions as one writes them."""

from __future__ import annotations

import pytest

from dexnb.model.decision_name import written


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("goTo", "go_to"),
        ("goToMany", "go_to_many"),
        ("next", "go_to"),
        ("gracefulComplete", "graceful_complete"),
        ("forceComplete", "force_complete"),
        ("forceCompleteIfChannelsEmpty", "force_complete_if_channels_empty"),
        ("force_fail", "force_fail"),
        ("deadEnd", "dead_end"),
        ("unknown", "unknown"),
        ("<B>", "<B>"),
        ("", ""),
    ],
)
def test_a_decision_is_shown_by_its_python_name(name: str, words: str) -> None:
    """Whichever document it is from; what is no decision stays as it is."""
    assert written(name) == words
