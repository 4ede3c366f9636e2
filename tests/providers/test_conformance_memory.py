"""The memory provider under the conformance suite, on the virtual clock."""

from __future__ import annotations

import pytest

from dexnb.testing.conformance import *  # noqa: F403  this is how the suite is used


@pytest.fixture
def provider_factory(memory_factory: ProviderFactory) -> ProviderFactory:  # noqa: F405  from there
    """Give the factory that the suite asks for."""
    return memory_factory
