"""A Flow that starts itself without end comes to one."""

from __future__ import annotations

from typing import Any

import pytest

from dexnb import (
    AsyncContext,
    Flow,
    Step,
    StepDecision,
    StepList,
    SubFlow,
    Wait,
    graceful_complete,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.errors import DefinitionError
from dexnb.flow.name import MAX_NAME
from dexnb.flow.subflow import FLOW_ID_PREFIX, check_subflow_ids, subflow_id
from tests.engine.flows import finished
from tests.engine.orders import on_each_store


class Again(Step[int]):
    """Waits for another run of its own Flow."""

    async def wait_for(self, context: AsyncContext, input: int) -> Wait:
        """Start it."""
        return Wait.until(SubFlow.run(Endless(), input + 1))

    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        """Give how many are below, or why there is none."""
        result = SubFlow.get_condition_results(context)
        ended = result.status == "COMPLETED"
        return graceful_complete(result.output if ended else [input + 1, result.error_message])


class Endless(Flow[int]):
    """Starts itself."""

    def get_steps(self) -> StepList[int]:
        """Give its one Step."""
        return StepList.start_step(Again())


@on_each_store
async def test_a_flow_that_starts_itself_is_refused_at_some_depth(
    runtime: Runtime, client: AsyncClient
) -> None:
    """The innermost run fails and says why, those around it go on."""
    run = await runtime.start(Endless(), "endless", 0)
    depth, why = (await finished(run, 600)).output
    runs = await runtime.runs(limit=100)
    assert len(runs) == depth + 1
    assert 5 < depth < MAX_NAME / len(FLOW_ID_PREFIX)
    assert f"at most {MAX_NAME} are allowed: end it if a Flow starts itself" in why
    assert max(len(each.flow_id) for each in runs) <= MAX_NAME
    assert [await each.status() for each in runs].count("FAILED") == 1
    assert depth == runs[0].flow_id.count(FLOW_ID_PREFIX)


@pytest.mark.parametrize("count", [0, 1, 2, 11])
def test_an_id_may_have_as_many_letters_as_any_other(count: int) -> None:
    """Counted with the number of the wait's last SubFlow."""
    wait: dict[str, Any] = {"conditions": [{"kind": "timer"}, *[{"kind": "subflow"}] * count]}
    room = MAX_NAME - len(subflow_id("", "Step-1", max(0, count - 1)))
    check_subflow_ids(wait, "x" * room, "Step-1")
    if count:
        with pytest.raises(DefinitionError, match=f"has {MAX_NAME + 1} letters"):
            check_subflow_ids(wait, "x" * (room + 1), "Step-1")
