"""`Spot`: a place in a Step's code, with all that is around it from the Step's method inward."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from dexnb.graph.frames import Frame

AroundKind = Literal[
    "loop", "try", "handler", "finally", "with", "guard", "call", "bound", "task", "thread"
]


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """One thing that a place is inside of.

    Args:
        kind: `try` is its body alone; `guard` a test that was passed or failed on the way; `call`
            the call of the helper that the rest is in; `bound` a call that limits the time of what
            it is given, `task` one that runs it beside, `thread` one that runs it in a thread.
        node: It.
        frame: The function that it is of.
        passed: Whether a guard's test was passed.
    """

    kind: AroundKind
    node: ast.AST
    frame: Frame
    passed: bool = True


Trail = tuple[Around, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A place.

    Args:
        node: What stands there.
        frame: The function that it is of.
        around: What it is inside of, outermost first.
    """

    node: ast.AST
    frame: Frame
    around: Trail

    def within(self, outer: Around) -> Trail:
        """Give what lies between something around it and the place."""
        return self.around[self.around.index(outer) + 1 :]


class CallKind(Enum):
    """What a call is to the rules.

    PAUSE sleeps. BEAT and WRITE show that the attempt lives. OWN is dexnb's, or runs inside the
    process and waits for nobody else: built-ins, most of the standard library, data. FOLLOWED is
    read itself, HIDDEN is the user's too and cannot be read. FOREIGN is all other code.
    """

    PAUSE = "pause"
    BEAT = "beat"
    WRITE = "write"
    OWN = "own"
    FOLLOWED = "followed"
    HIDDEN = "hidden"
    FOREIGN = "foreign"


SHOWS = (CallKind.BEAT, CallKind.WRITE)
"""What shows that the attempt lives."""


@dataclass(frozen=True, slots=True, eq=False)
class CallSpot(Spot):
    """A call.

    Args:
        call: It; where a thread makes it, the call that the thread makes.
        kind: What it is to the rules.
        origin: The dotted name of what is called, `requests.get`; empty where it is not known.
        awaited: Whether the code waits for it on the loop.
        dropped: Whether nothing takes its result.
    """

    call: ast.Call
    kind: CallKind
    origin: str
    awaited: bool = False
    dropped: bool = False

    @property
    def threaded(self) -> bool:
        """Tell whether a thread of its own runs it."""
        return any(each.kind == "thread" for each in self.around)


@dataclass(frozen=True, slots=True, eq=False)
class LoopSpot(Spot):
    """A loop.

    Args:
        loop: It, as it stands around what is inside of it.
    """

    loop: Around

    def holds(self, spot: Spot) -> bool:
        """Tell whether a place is inside this loop, also by way of helpers."""
        return self.loop in spot.around
