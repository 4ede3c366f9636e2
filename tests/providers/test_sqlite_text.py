"""Text crosses into SQLite and back unchanged, whatever it holds."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.providers import Beat, NewWorkItem, StreamWrite, TelemetryChunk
from dexnb.providers.sqlite.rows import (
    answer,
    micros,
    number_of,
    parameter,
    restored,
    seconds,
    stamp,
    stored,
)
from tests.providers.sqlite_case import LONG, commit, message, opened, raw, start, take

TEXTS = (
    "",
    "a\0b",
    "\0",
    "half \ud83d a pair",
    "\udc80 surrogate escape",
    "\N{GRINNING FACE} and é",
    '\x7fjson:"looks wrapped"',
    "\x01\x1f\x7f\x80\u2028\ufffe\uffff",
    str(2**63),
    "Infinity",
    '{"n":9223372036854775808,"x":1e999,"y":"\\u0000"}',
    "null",
    '"quoted"',
    "[1,2",
)
NAMES = tuple(text for text in TEXTS if text)


@given(st.text(st.characters(codec=None, categories=None)) | st.sampled_from(TEXTS))
def test_stored_text_is_plain_and_comes_back(text: str) -> None:
    """What goes into a column holds no NUL and nothing that UTF-8 cannot say."""
    column = stored(text)
    assert "\0" not in column
    column.encode()
    assert restored(column) == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\x7f")))
def test_ordinary_text_is_stored_as_it_is(text: str) -> None:
    """So that a person who looks into the file can read it."""
    assert stored(text) == text


@given(st.lists(st.text(st.characters(codec=None, categories=None)) | st.sampled_from(TEXTS)))
def test_text_survives_sqlites_own_json(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    """Through the parameter of a set statement and out of an aggregated row."""
    with raw(tmp_path_factory.getbasetemp() / "scratch.db") as connection:
        row = connection.execute(
            "SELECT json_group_array(value ->> 0) FROM json_each(?)",
            (parameter([[stored(text)] for text in texts]),),
        ).fetchone()
    assert [restored(text) for text in answer(row[0])] == texts


@given(st.floats(0, 4e9), st.floats(0, 4e9))
def test_whole_microseconds_keep_the_order_of_times(one: float, two: float) -> None:
    """What is due by the clock is due in the file."""
    assert (micros(one) <= micros(two)) >= (one <= two)
    assert micros(seconds(micros(one))) == micros(one)


@given(st.floats(allow_nan=False))
def test_a_stamp_keeps_every_bit(value: float) -> None:
    """Unlike a number in SQLite's JSON, which has 15 digits."""
    text = stamp(value)
    assert text is not None
    assert float(text) == value


@pytest.mark.parametrize(
    "token", ["", "w", "w.1.1", "wx.1.1", "no token", "w²", "w" + "9" * 30, "w-1.1.1", "\0"]
)
def test_what_is_no_token_names_no_row(token: str) -> None:
    """Whatever a caller hands in is looked up safely."""
    assert number_of(token) == 0


def test_every_text_of_a_run_comes_back(tmp_path: Path) -> None:
    """Ids, names, states, payloads, checkpoints, messages: through the whole provider."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            for number, text in enumerate(TEXTS):
                run_id = f"run-{text}-{number}"
                item = NewWorkItem(run_id, text, "Flow", "Step", f"Step-{text}", text)
                await provider.start_run(
                    replace(
                        commit("x", seqs=()),
                        run_id=run_id,
                        flow_id=f"flow-{text}-{number}",
                        state=text,
                        work_items=(item,),
                        messages=(replace(message("x", text), run_id=run_id),),
                    )
                )
                run = await provider.fetch_orchestration_item(LONG, 0)
                assert run is not None
                assert (run.run_id, run.state) == (run_id, text)
                assert run.flow_id == f"flow-{text}-{number}"
                assert [m.text for m in run.messages] == [text]
                taken = await take(provider)
                assert taken.item.payload == text
                assert taken.item.step_execution_id == f"Step-{text}"
                await provider.record_beats([Beat(taken.token, text)])
                await provider.abandon_work_item(taken.token)
                assert (await take(provider)).item.checkpoint == text

    asyncio.run(body())


def test_a_flow_id_with_a_nul_is_not_its_shorter_twin(tmp_path: Path) -> None:
    """Cut text would let two flows share one open run."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            for flow_id in ("a", "a\0", "a\0b", "\ud800", "\udbff"):
                first = replace(commit(repr(flow_id)), flow_id=flow_id)
                assert (await provider.start_run(first)).created
                again = replace(commit(f"{flow_id!r} again"), flow_id=flow_id)
                assert not (await provider.start_run(again)).created
                found = await provider.read_run(flow_id=flow_id)
                assert found is not None
                assert found.flow_id == flow_id

    asyncio.run(body())


def test_streams_and_telemetry_keep_their_texts(tmp_path: Path) -> None:
    """Names and payloads alike, and a stamp to its last bit."""

    async def body() -> None:
        wall = 1764500000.1234567
        async with opened(tmp_path / "x.db") as provider:
            for text in NAMES:
                write = StreamWrite(text, text, text, text, text, text, wall, 10**6)
                assert await provider.write_stream([write]) == (True,)
                (record,) = await provider.read_stream(text, text, flow_id=text)
                assert (record.source, record.payload, record.wall) == (text, text, wall)
                chunk = TelemetryChunk(text, 1, 2, text)
                await provider.append_telemetry([chunk])
                assert await provider.read_telemetry(text) == (chunk,)

    asyncio.run(body())


def test_a_person_can_read_the_file(tmp_path: Path) -> None:
    """JSON text lies in its column as JSON text, not escaped twice."""

    async def body() -> None:
        async with opened(tmp_path / "x.db") as provider:
            await start(provider, "a")
            item = await take(provider)
            await provider.record_beats([Beat(item.token, '{"status":"läuft"}')])

    asyncio.run(body())
    with raw(tmp_path / "x.db") as connection:
        (checkpoint,) = connection.execute("SELECT checkpoint FROM work_items").fetchone()
    assert json.loads(checkpoint) == {"status": "läuft"}
