"""Codecs of the user's in runs: wherever a value goes in or out, the runtime's codecs are used."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dexnb import (
    AsyncClient,
    AsyncContext,
    Attribute,
    AttributeMap,
    AttributeMatch,
    Channel,
    CodecRegistry,
    Context,
    Flow,
    FlowDefinitionError,
    JsonCodec,
    PersistenceSchema,
    RPCResult,
    StartFlowOptions,
    Step,
    StepDecision,
    StepList,
    Stream,
    SubFlow,
    ValueMappingError,
    Wait,
    go_to,
    graceful_complete,
    rpc,
)
from dexnb.engine import AsyncRun, Runtime
from dexnb.model.json_text import to_text
from dexnb.providers import MemoryProvider
from tests.engine.flows import fast, finished, options, virtual


class Money:
    """A class that only a codec can store."""

    def __init__(self, cents: int) -> None:
        """Hold an amount."""
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        """Compare amounts."""
        return isinstance(other, Money) and self.cents == other.cents

    __hash__ = None  # type: ignore[assignment]  # it is compared only


def decoded(document: Any) -> Money:
    """Read an amount; what stands for a broken one cannot be read."""
    return Money(int(document.removesuffix(" ct")))


CODECS = CodecRegistry([JsonCodec("Money", decoded, lambda value: f"{value.cents} ct", Money)])

PRICE = Attribute("price", Money)
PARTS = AttributeMap("parts", Money)
PAID = Channel("paid", Money)
TOLD = Stream("told", Money, 1 << 16)


class Child(Step[Money]):
    """Gives its input back."""

    def execute(self, context: Context, input: Money) -> StepDecision:
        """Complete, with a price in between that is kept by a plain thread."""
        return graceful_complete(input)


class ChildFlow(Flow[Money]):
    """A SubFlow."""

    def get_steps(self) -> StepList[Money]:
        """Give its Step."""
        return StepList.start_step(Child())


class Ask(Step[Money]):
    """Waits for a payment and a SubFlow."""

    async def wait_for(self, context: AsyncContext, input: Money) -> Wait:
        """Keep values in all ways."""
        PRICE.set(context, input)
        PARTS.set(context, "a", Money(input.cents + 1))
        context.set_step_execution_local("asked", Money(3))
        context.record_event("asked", Money(4))
        TOLD.write(context, Money(5))
        return Wait.all_of(PAID.for_one(), SubFlow.run(ChildFlow(), Money(6)))

    async def execute(self, context: AsyncContext, input: Money) -> StepDecision:
        """Add up what was kept."""
        (paid,) = PAID.results(context)
        kept = PRICE.get(context)
        local = context.get_step_execution_local("asked", Money)
        assert kept is not None
        assert local is not None
        child = SubFlow.get_condition_results(context).single_output(Money)
        return go_to(Pay, Money(paid.cents + kept.cents + local.cents + child.cents))


class Pay(Step[Money]):
    """Goes on from its checkpoint."""

    def get_step_options(self) -> Any:
        """Retry at once."""
        return options(initial=0.01)

    async def execute(self, context: AsyncContext, input: Money) -> StepDecision:
        """Fail once."""
        last = context.get_last_heartbeat_value(Money)
        if last is None:
            await context.heartbeat(input)
            raise ConnectionError("try again")
        return graceful_complete(last)


class Shop(Flow[Money]):
    """Keeps money in every place."""

    def get_steps(self) -> StepList[Money]:
        """Give its Steps."""
        return StepList.start_step(Ask()).other_steps(Pay())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(PRICE, PARTS, PAID, TOLD)

    @rpc
    def raised(self, context: Context, by: Money) -> RPCResult[Money]:
        """Change the price, in a thread."""
        kept = PRICE.get(context)
        assert kept is not None
        PRICE.set(context, Money(kept.cents + by.cents))
        return RPCResult(Money(kept.cents + by.cents))


async def shopped(runtime: Runtime, client: AsyncClient) -> AsyncRun:
    """Run it with all that a client can do."""
    begun = StartFlowOptions().with_attribute(PARTS, "b", Money(9))
    await client.start_flow(Shop(), "shop", Money(100), begun)
    run = await runtime.get("shop")
    matched = AttributeMatch.equal_to(Money(100))
    assert await client.wait_for_attribute_match("shop", PRICE, matched) == Money(100)
    assert await client.invoke_rpc(Shop.raised, "shop", Money(10)) == Money(110)
    await client.write_stream("shop", TOLD, "me", Money(7))
    await client.publish("shop", PAID, Money(1000))
    assert (await finished(run)).single_output(Money) == Money(1119)
    return run


@pytest.mark.rule("1.10/codec", "1.10/plain-history")
@virtual
async def test_a_type_with_a_codec_may_stand_wherever_a_value_may() -> None:
    """As an input, Attribute, message, checkpoint, local, event or output, in RPCs and SubFlows."""
    async with Runtime(MemoryProvider(), options=fast(), codecs=CODECS) as runtime:
        client = AsyncClient(runtime)
        run = await shopped(runtime, client)
        assert await run.attribute(PARTS, "a") == Money(101)
        assert await run.attribute("parts", "b") == Money(9)
        assert [each.value for each in await run.stream(TOLD)] == [Money(5), Money(7)]
        assert (await client.read_stream("shop", TOLD)).value == Money(5)
        page = await client.list_stream_messages("shop", TOLD, 5)
        assert [each.value for each in page.messages] == [Money(7), Money(5)]
        result = await client.wait_for_flow("shop")
        assert result.single_output(Money) == Money(1119)
        # Without its type a value is what stands in the history, which is plain JSON.
        assert result.output == "1119 ct"
        assert [each.value for each in await run.stream("told")] == ["5 ct", "7 ct"]
        for event in await run.events():
            assert "Money" not in to_text(event.payload)


@pytest.mark.rule("1.10/codec-failure")
@virtual
async def test_a_codec_that_fails_fails_that_call_and_writes_nothing() -> None:
    """With the field named; what is stored already and cannot be read says so, too."""

    def refuses(value: Money) -> str:
        if value.cents < 0:
            raise ArithmeticError("no debts")
        return f"{value.cents} ct" if value.cents else "nothing"

    codecs = CodecRegistry([JsonCodec("Money", str, refuses)])
    caught: list[str] = []

    class Sets(Step[None]):
        async def execute(self, context: AsyncContext, input: None) -> StepDecision:
            try:
                PRICE.set(context, Money(-1))
            except ValueMappingError as error:
                caught.append(str(error))
            return graceful_complete()

    class Keeps(Flow[None]):
        def get_steps(self) -> StepList[None]:
            return StepList.start_step(Sets())

        def get_persistence_schema(self) -> PersistenceSchema:
            return PersistenceSchema.of(PRICE)

    async with Runtime(MemoryProvider(), options=fast(), codecs=codecs) as runtime:
        client = AsyncClient(runtime)
        run = await runtime.start(Keeps(), "keeps")
        await finished(run)
        (text,) = caught
        assert "Attribute price set: value: codec Money cannot encode <" in text
        assert "ArithmeticError: no debts" in text
        assert (await run.state()).attributes == {}
        runtime.register_codecs(CodecRegistry([JsonCodec("Money", lambda _: Money(0), refuses)]))
        nothing = StartFlowOptions().with_attribute(PRICE, Money(0))
        await client.start_flow(Keeps(), "nothing", None, nothing)
        runtime.register_codecs(CODECS)
        with pytest.raises(ValueMappingError, match=r"price read: .* cannot decode 'nothing'"):
            await (await runtime.get("nothing")).attribute(PRICE)


@virtual
async def test_a_flow_whose_codec_the_runtime_lacks_is_refused_when_it_is_registered() -> None:
    """All places at once, and how to give it; another runtime's codecs do not help."""
    async with (
        Runtime(MemoryProvider(), options=fast(), codecs=CODECS) as other,
        Runtime(MemoryProvider(), options=fast()) as runtime,
    ):
        other.register(Shop())
        with pytest.raises(FlowDefinitionError, match=r"dexnb\.open\(\.\.\., codecs=") as caught:
            runtime.register(Shop())
        wheres = {problem.where.rpartition(" ")[0] for problem in caught.value.problems}
        assert {"Shop.Attribute price", "Shop.Channel paid", "Shop.Stream told"} <= wheres
        runtime.register_codecs(CODECS)
        runtime.register(Shop())


@virtual
async def test_codecs_given_later_are_used_by_the_next_attempt() -> None:
    """As a cell that is run again gives them; an attempt keeps those that it began with."""
    seen: list[int] = []

    class Reads(Step[Money]):
        def get_step_options(self) -> Any:
            return options(initial=1)

        async def execute(self, context: AsyncContext, input: Money) -> StepDecision:
            seen.append(input.cents)
            await asyncio.sleep(1)
            await context.heartbeat(Money(1))
            if len(seen) == 1:
                raise ConnectionError("try again")
            return graceful_complete(Money(2))

    class Uses(Flow[Money]):
        def get_steps(self) -> StepList[Money]:
            return StepList.start_step(Reads())

    def twice(document: Any) -> Money:
        return Money(2 * decoded(document).cents)

    later = CodecRegistry([JsonCodec("Money", twice, lambda value: f"{value.cents // 2} ct")])
    async with Runtime(MemoryProvider(), options=fast(), codecs=CODECS) as runtime:
        run = await runtime.start(Uses(), "uses", Money(8))
        await asyncio.sleep(0.5)
        runtime.register_codecs(later)
        await finished(run)
        assert seen == [8, 16]
        assert [e.payload["checkpoint"] for e in await run.events() if e.kind == "heartbeat"] == [
            '"1 ct"',
            '"0 ct"',
        ]
        assert repr(runtime.codecs) == "CodecRegistry(Money)"
