"""What an RPC may return: each result in its source, with the Steps that it starts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dexnb.flow.rpc import RPCResult
from dexnb.graph.alternatives import Leaf
from dexnb.graph.frames import Frame, argument
from dexnb.graph.movements import UNRESOLVED, movements_of, type_of
from dexnb.graph.outcomes import Outcome, cancellations_of, outcomes_of

RPC_RESULT = "rpcResult"


def read_results(frame: Frame) -> list[Outcome]:
    """Give every RPCResult that an RPC may return, in the order of its source; None is none."""
    return outcomes_of(frame, _returned)


def _returned(leaf: Leaf, blank: Outcome) -> Iterator[Outcome]:
    where = leaf.expression
    if isinstance(leaf.value, RPCResult):
        yield _of_object(leaf.value, blank)
    elif isinstance(where, ast.Call) and _makes_result(where, leaf.frame):
        yield _of_call(where, leaf, blank)
    elif leaf.value is not None:
        yield replace(blank, targets=(UNRESOLVED,))


def _makes_result(call: ast.Call, frame: Frame) -> bool:
    made = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    return frame.scope.look(made) is RPCResult


def _of_object(result: RPCResult[Any], blank: Outcome) -> Outcome:
    return replace(
        blank,
        type=RPC_RESULT,
        targets=tuple(dict.fromkeys(type_of(movement.step) for movement in result.next_steps)),
        cancellations=tuple((type_of(step), "all") for step in result.canceling_steps),
    )


def _of_call(call: ast.Call, leaf: Leaf, blank: Outcome) -> Outcome:
    steps = argument(call, 1, "next_steps")
    cancelled = argument(call, 2, "canceling_steps")
    found = [] if steps is None else movements_of(steps, leaf.frame, leaf.guards, element=True)
    return replace(
        blank,
        type=RPC_RESULT,
        targets=tuple(found),
        cancellations=tuple(cancellations_of(cancelled, "all", leaf.frame)),
    )
