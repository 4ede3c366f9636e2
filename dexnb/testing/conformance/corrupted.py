"""Texts are opaque: kept to the byte, never looked into; a broken history hides nothing."""

from __future__ import annotations

from dataclasses import replace

from dexnb.providers import Beat, StreamWrite, TelemetryChunk
from dexnb.testing.conformance.case import POLL_1, Case, case, refused, texts

TEXTS = (
    "",
    "not JSON {",
    '"\\u0000 and \\ud800"',
    str(10**400),
    "[Infinity,NaN,-0.0,1e999]",
    "'; DROP TABLE runs; --",
    '{"a":1,"a":2}',
    "line\nline\r\n\ttab  ",
    "é € \N{GRINNING FACE} \u2028",
    '"' + "x" * 70_000 + '"',
)
NAMES = ("a b/c", "Ünïcödé \N{SNOWMAN}", "it's", '"quoted"', "100%_", "null", "0")


class TestCorrupted:
    """What a store may not understand, and must not change."""

    @case
    async def test_messages_come_back_as_they_were_sent(self, store: Case) -> None:
        """Whatever their text looks like."""
        await store.start()
        await store.send("a", *TEXTS)
        assert texts(await store.take_run()) == list(TEXTS)

    @case
    async def test_states_come_back_as_they_were_committed(self, store: Case) -> None:
        """By a fetch and by a look-up."""
        await store.start()
        for text in TEXTS:
            await store.send()
            item = await store.take_run()
            await store.provider.ack_orchestration_item(item.token, store.turn(item, state=text))
            run = await store.provider.read_run(run_id="run-a")
            assert run is not None
            assert run.state == text

    @case
    async def test_work_items_come_back_as_they_were_enqueued(self, store: Case) -> None:
        """Payload and checkpoint, at first and after a redelivery."""
        work = tuple(
            store.work("a", f"Poll-{number}", payload=text, checkpoint=text)
            for number, text in enumerate(TEXTS, 1)
        )
        await store.provider.start_run(store.commit("a", events=[1], work_items=work))
        for _ in range(2):
            taken = [await store.take_work() for _ in TEXTS]
            assert [item.item.payload for item in taken] == list(TEXTS)
            assert [item.item.checkpoint for item in taken] == list(TEXTS)
            await store.locks_run_out()

    @case
    async def test_a_work_item_keeps_all_that_it_was_enqueued_with(self, store: Case) -> None:
        """A fetch adds what it knows, and changes nothing else."""
        work = store.work("a", "Poll-12", payload="{}", attempt=3, first_attempt_at=1.25)
        await store.provider.start_run(store.commit("a", events=[1], work_items=(work,)))
        assert (await store.take_work()).item == work

    @case
    async def test_checkpoints_come_back_as_they_were_recorded(self, store: Case) -> None:
        """One after the other, through redeliveries."""
        await store.start(steps=[POLL_1])
        for text in TEXTS:
            item = await store.take_work()
            assert await store.provider.record_beats([Beat(item.token, text)]) == frozenset()
            await store.provider.abandon_work_item(item.token)
            item = await store.take_work()
            assert item.item.checkpoint == text
            await store.provider.abandon_work_item(item.token)

    @case
    async def test_streams_and_telemetry_come_back_as_they_were_written(self, store: Case) -> None:
        """Texts of both kinds."""
        writes = [
            StreamWrite("Polling", "s", "flow-a", "run-a", "#Poll-1", text, 1.5, 10**6)
            for text in TEXTS
        ]
        assert all(await store.provider.write_stream(writes))
        kept = await store.provider.read_stream("Polling", "s")
        assert [record.payload for record in kept] == list(TEXTS)
        chunks = tuple(TelemetryChunk("run-a", n, n, text) for n, text in enumerate(TEXTS))
        await store.provider.append_telemetry(chunks)
        assert await store.provider.read_telemetry("run-a") == chunks

    @case
    async def test_names_are_data(self, store: Case) -> None:
        """Ids and types of any letters are found again, and only by themselves."""
        for name in NAMES:
            await store.start(name, steps=[POLL_1])
            await store.send(name)
        for name in NAMES:
            run = await store.provider.read_run(flow_id=f"flow-{name}")
            assert run is not None
            assert run.run_id == f"run-{name}"
            assert (await store.take_run()).run_id == f"run-{name}"
            assert (await store.take_work()).item.flow_id == f"flow-{name}"
        assert await store.provider.read_run(flow_id="flow-%") is None

    @case
    async def test_payloads_of_events_come_back_as_they_were_committed(self, store: Case) -> None:
        """Values of every JSON kind, large numbers and odd letters in texts among them."""
        payload = {
            "text": '\x00 \ud800 é " \\ \u2028',
            "numbers": [0, -1, 2**70, 0.1, 1e308, True, None],
            "nested": {"": [{}, []]},
        }
        event = replace(store.event("a", 1), payload=payload, time=1e9 + 1 / 3, wall=2e9 + 1 / 7)
        await store.provider.start_run(replace(store.commit("a"), events=(event,)))
        assert await store.provider.read_events("run-a") == (event,)

    @case
    async def test_a_kept_event_is_nobodys_to_change(self, store: Case) -> None:
        """What a reader does to a payload does not reach the store."""
        await store.start()
        (event,) = await store.provider.read_events("run-a")
        event.payload["seq"] = "changed"
        assert await store.provider.read_events("run-a") == (store.event("a", 1),)

    @case
    async def test_an_unreadable_event_is_an_error_not_a_gap(self, store: Case) -> None:
        """A history with a broken event cannot be read for good, and says so."""
        item = await store.locked_run()
        await store.provider.ack_orchestration_item(item.token, store.turn(item, events=2))
        await store.factory.corrupt_event(store.provider, "run-a", 2)
        error = await refused(store.provider.read_events, "run-a")
        assert "run-a" in str(error)

    @case
    async def test_turns_go_on_over_an_unreadable_history(self, store: Case) -> None:
        """A turn needs the state alone: fetch, count and ack work as ever, and end the run."""
        item = await store.locked_run()
        await store.factory.corrupt_event(store.provider, "run-a", 1)
        await store.provider.abandon_orchestration_item(item.token)
        item = await store.take_run()
        assert item.attempt_count == 2
        await store.provider.ack_orchestration_item(item.token, store.turn(item, status="FAILED"))
        run = await store.provider.read_run(run_id="run-a")
        assert run is not None
        assert (run.status, run.version) == ("FAILED", 2)
        assert [event.seq for event in await store.provider.read_events("run-a", after=1)] == [2]

    @case
    async def test_one_broken_run_does_not_hold_up_the_others(self, store: Case) -> None:
        """Neither its turns nor its history stand in anybody's way."""
        await store.start("a")
        await store.factory.corrupt_event(store.provider, "run-a", 1)
        await store.send("a", "not JSON {")
        await store.start("b", steps=[POLL_1])
        await store.send("b")
        assert [(await store.take_run()).run_id for _ in range(2)] == ["run-a", "run-b"]
        assert (await store.take_work()).item.run_id == "run-b"
        assert len(await store.provider.read_events("run-b")) == 1
