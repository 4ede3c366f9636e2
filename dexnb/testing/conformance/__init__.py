"""The conformance suite: what every `Provider` has to do, as tests that anybody can run.

A store's author subclasses `ProviderFactory`, gives it as the fixture `provider_factory`, and
writes in one test file::

    from dexnb.testing.conformance import *

Each class is one property, each method one obligation; all run on the factory's clock. `pytest` is
needed here and nowhere else in the package. `NO_COUNTERPART` says which properties of the suite
that this one follows have no test here, and why.
"""

from __future__ import annotations

from dexnb.testing.conformance.atomicity import TestAtomicity
from dexnb.testing.conformance.cancellation import TestCancellation
from dexnb.testing.conformance.checkpoints import TestCheckpoints
from dexnb.testing.conformance.clocks import TestClocks
from dexnb.testing.conformance.corrupted import TestCorrupted
from dexnb.testing.conformance.ends_with_turns import TestEndsWithTurns
from dexnb.testing.conformance.error_handling import TestErrorHandling
from dexnb.testing.conformance.factory import ProviderFactory
from dexnb.testing.conformance.instance_creation import TestInstanceCreation
from dexnb.testing.conformance.instance_locking import TestInstanceLocking
from dexnb.testing.conformance.lock_expiration import TestLockExpiration
from dexnb.testing.conformance.long_polling import TestLongPolling
from dexnb.testing.conformance.poison_message import TestPoisonMessage
from dexnb.testing.conformance.queue_semantics import TestQueueSemantics
from dexnb.testing.conformance.reads import TestReads
from dexnb.testing.conformance.rows import NO_COUNTERPART
from dexnb.testing.conformance.starts import TestStarts
from dexnb.testing.conformance.streams import TestStreams
from dexnb.testing.conformance.telemetry import TestTelemetry

__all__ = [
    "NO_COUNTERPART",
    "ProviderFactory",
    "TestAtomicity",
    "TestCancellation",
    "TestCheckpoints",
    "TestClocks",
    "TestCorrupted",
    "TestEndsWithTurns",
    "TestErrorHandling",
    "TestInstanceCreation",
    "TestInstanceLocking",
    "TestLockExpiration",
    "TestLongPolling",
    "TestPoisonMessage",
    "TestQueueSemantics",
    "TestReads",
    "TestStarts",
    "TestStreams",
    "TestTelemetry",
]
