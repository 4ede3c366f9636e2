"""The simulation for long: as many seeds as CI never has the time for."""

from __future__ import annotations

import pytest

from tests.simulation.playing import play_everywhere

SEEDS = 100_000
TELLS = 20
"""Chunks of seeds between two lines of figures."""


@pytest.mark.soak
@pytest.mark.timeout(14_400)
def test_a_hundred_thousand_seeds() -> None:
    """On all processors, up to the first that fails; an hour or two on two of them."""
    whole = None
    for number, whole in enumerate(play_everywhere(range(SEEDS)), 1):
        if number % TELLS == 0:
            print(f"\n{whole}", end="", flush=True)
    assert whole is not None
    assert not whole.wrong, "\n".join(whole.wrong)
    assert whole.seeds == SEEDS
