"""For tests of stores and engines: the conformance suite and a provider that fails on demand.

The suite is `dexnb.testing.conformance`; it needs `pytest`, the rest does not.
"""

from __future__ import annotations

from contextlib import suppress

from dexnb.testing.faulty import Fault, FaultyProvider

with suppress(ImportError):
    import pytest

    # Before the suite is imported, so that its asserts show both sides.
    pytest.register_assert_rewrite("dexnb.testing.conformance")

__all__ = ["Fault", "FaultyProvider"]
