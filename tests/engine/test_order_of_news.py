"""Who waits for the same news hears it in the order of coming, so that virtual runs repeat."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from dexnb.engine import AsyncClient, Runtime
from dexnb.providers import MemoryProvider, MemoryStore
from dexnb.testing import Fault, FaultyProvider
from tests.engine.flows import fast, virtual
from tests.engine.orders import PROGRESS, Order, open_order

WAITS = 12
"""More than come out right by chance."""


async def heard(wait: Callable[[int], Awaitable[object]], happens: Awaitable[object]) -> list[int]:
    """Give the waits in the order in which they have heard of what happens."""
    order: list[int] = []

    async def listen(number: int) -> None:
        await wait(number)
        order.append(number)

    waits = [asyncio.ensure_future(listen(number)) for number in range(WAITS)]
    await asyncio.sleep(1)
    await happens
    await asyncio.gather(*waits)
    return order


@virtual
async def test_the_end_of_a_run_is_heard_by_those_who_came_first() -> None:
    """Several callers of one engine."""
    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        client = AsyncClient(runtime)
        await open_order(client)
        order = await heard(lambda _: client.wait_for_flow("order"), client.stop_flow("order"))
    assert order == list(range(WAITS))


@virtual
async def test_a_message_of_a_stream_is_heard_by_those_who_came_first() -> None:
    """Several readers of one engine."""
    async with Runtime(MemoryProvider(), options=fast()) as runtime:
        client = AsyncClient(runtime)
        await open_order(client)
        order = await heard(
            lambda _: client.read_stream("order", PROGRESS),
            client.write_stream("order", PROGRESS, "shop", "hello"),
        )
    assert order == list(range(WAITS))


@virtual
async def test_engines_of_one_loop_hear_in_the_order_in_which_they_were_opened() -> None:
    """One of them ends the run or writes the message; the others learn of it at once."""
    store = MemoryStore()
    made = [
        # Only the last one does the work, so that all others are told by it.
        FaultyProvider(MemoryProvider(store), faults)
        for faults in [[Fault("fetch_orchestration_items")]] * (WAITS - 1) + [[]]
    ]
    runtimes = [Runtime(provider, options=fast()) for provider in made]
    async with asyncio.timeout(10_000):
        clients = [AsyncClient(await runtime.__aenter__()) for runtime in runtimes]
        for runtime in runtimes:
            runtime.register(Order())
        await open_order(clients[-1])
        last = clients[-1]
        read = await heard(
            lambda number: clients[number].read_stream("order", PROGRESS),
            last.write_stream("order", PROGRESS, "shop", "hello"),
        )
        ended = await heard(
            lambda number: clients[number].wait_for_flow("order"), last.stop_flow("order")
        )
        for runtime in runtimes:
            await runtime.close()
    assert read == ended == list(range(WAITS))
