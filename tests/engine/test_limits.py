"""A wait ends when it was told to, whatever the store does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dexnb import AttributeMatch, StepExecutionId
from dexnb.engine import AsyncClient, Runtime
from dexnb.engine.limit import LOOK_SECONDS
from dexnb.errors import FlowNotFoundError, ProviderError, WaitTimeout
from dexnb.flow.client_options import WaitForAttributeOptions, WaitForStepCompletionOptions
from dexnb.providers import MemoryProvider
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, virtual
from tests.engine.orders import PROGRESS, STATE, open_order

SECONDS = 2.0
EXECUTION = StepExecutionId("AwaitPaid", 9)

Wait = Callable[[AsyncClient, Any], Awaitable[Any]]


def _wait_for_step(client: AsyncClient, _: Any) -> Awaitable[None]:
    options = WaitForStepCompletionOptions(request_timeout=SECONDS)
    return client.wait_for_step_completion("order", EXECUTION, options)


def _wait_for_attribute(client: AsyncClient, _: Any) -> Awaitable[Any]:
    options, match = WaitForAttributeOptions(request_timeout=SECONDS), AttributeMatch.equal_to("x")
    return client.wait_for_attribute_match("order", STATE, match, options=options)


WAITS: dict[str, Wait] = {
    "run.wait": lambda _, run: run.wait(SECONDS),
    "wait_for_flow": lambda client, _: client.wait_for_flow("order", SECONDS),
    "read_stream": lambda client, _: client.read_stream("order", PROGRESS, "", SECONDS),
    "step": _wait_for_step,
    "attribute": _wait_for_attribute,
}

TROUBLES = {
    "hangs": Fault("read_run", delay=1000.0, retryable=None),
    "fails at once": Fault("read_run"),
    "fails late": Fault("read_run", delay=5.0),
}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("wait", WAITS)
def test_a_wait_keeps_its_timeout_while_the_store_does_not_answer(wait: str, trouble: str) -> None:
    """A moment more at most; a store that says that it fails may be heard before."""

    @virtual
    async def body() -> None:
        loop, store = asyncio.get_running_loop(), FaultyProvider(MemoryProvider())
        async with Runtime(store, options=fast()) as runtime:
            client = AsyncClient(runtime)
            await open_order(client)
            run = await runtime.get("order")
            store.faults = [TROUBLES[trouble]]
            began = loop.time()
            with pytest.raises((WaitTimeout, ProviderError)) as failure:
                await WAITS[wait](client, run)
            assert loop.time() - began <= SECONDS + LOOK_SECONDS + 0.01
            if trouble != "fails at once":
                assert isinstance(failure.value, WaitTimeout)
                assert "within 2 s" in str(failure.value) or "after 2 s" in str(failure.value)
            store.faults = []

    body()


@virtual
async def test_no_wait_at_all_still_tells_what_is_not_there() -> None:
    """The look for the run has a moment of its own."""
    store = FaultyProvider(MemoryProvider(), [Fault("read_run", delay=0.1, retryable=None)])
    async with Runtime(store, options=fast()) as runtime:
        with pytest.raises(FlowNotFoundError):
            await AsyncClient(runtime).wait_for_flow("nobody", 0)
