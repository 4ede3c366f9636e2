"""Searching runs: the language, what it compares, and the pages of what it finds."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb import (
    AsyncContext,
    Attribute,
    AttributeIndex,
    AttributeMap,
    Flow,
    IndexType,
    PersistenceSchema,
    StartFlowOptions,
    Step,
    StepDecision,
    StepList,
    StopFlowOptions,
    StopType,
    dead_end,
    graceful_complete,
)
from dexnb.engine import AsyncClient, Runtime
from dexnb.engine.search_query import Comparison, comparisons, holds, parse, pinned
from dexnb.errors import DefinitionError
from tests.engine.flows import flow
from tests.engine.orders import on_each_store


class Size(Enum):
    """How large something is."""

    SMALL = "S"
    LARGE = "L"


WORD = Attribute("word", str, AttributeIndex(IndexType.KEYWORD))
SIZE = Attribute("size", Size, AttributeIndex(IndexType.KEYWORD))
TEXT = Attribute("text", str, AttributeIndex(IndexType.FULL_TEXT, "notes"))
TAGS = Attribute("tags", list[str], AttributeIndex(IndexType.KEYWORD_ARRAY))
COUNT = Attribute("count", int, AttributeIndex(IndexType.INT))
PRICE = Attribute("price", Decimal, AttributeIndex(IndexType.DOUBLE))
DONE = Attribute("done", bool, AttributeIndex(IndexType.BOOL))
WHEN = Attribute("when", datetime, AttributeIndex(IndexType.DATETIME))
PARTS = AttributeMap("parts", int, AttributeIndex(IndexType.INT, "part"))
HIDDEN = Attribute("hidden", str)


class Stay(Step[str]):
    """Leaves its run open, or ends it."""

    async def execute(self, context: AsyncContext, input: str) -> StepDecision:
        """End if that is asked."""
        return graceful_complete() if input == "end" else dead_end()


class Shelf(Flow[str]):
    """A Flow with an index of every type."""

    def get_steps(self) -> StepList[str]:
        """Give its one Step."""
        return StepList.start_step(Stay())

    def get_persistence_schema(self) -> PersistenceSchema:
        """Give what it keeps."""
        return PersistenceSchema.of(WORD, SIZE, TEXT, TAGS, COUNT, PRICE, DONE, WHEN, PARTS, HIDDEN)


FULL = (
    StartFlowOptions()
    .with_attribute(WORD, 'say "hi"')
    .with_attribute(SIZE, Size.LARGE)
    .with_attribute(TEXT, "The quick brown Fox, and a hen")
    .with_attribute(TAGS, ["red", "blue"])
    .with_attribute(COUNT, 3)
    .with_attribute(PRICE, Decimal("2.50"))
    .with_attribute(DONE, True)
    .with_attribute(WHEN, datetime(2026, 1, 31, 12, tzinfo=UTC))
    .with_attribute(PARTS, "a/b", 1)
    .with_attribute(PARTS, "c", 9)
)

HOLD = [
    "",
    "   ",
    "flow_id = 'full'",
    'flow_type="Shelf" and status!="FAILED"',
    "status = 'RUNNING' AND (count >= 3 OR count < 0)",
    "count > 2 AND count < 4 AND count <= 3 AND count != 4 AND count = 3.0",
    'word = "say \\"hi\\""',
    "word > 'a' AND word < 'z'",
    "size = 'L'",
    "notes = 'fox quick' AND notes != 'cow'",
    "tags = 'red' AND tags = 'blue' AND tags != 'green'",
    "price >= 2.5 AND price < 2.6e0",
    "done = true AND done != FALSE",
    "when = '2026-01-31T12:00:00+00:00' AND when > '2026-01-31' AND when < '2026-02-01T00:00'",
    "when >= 1769860800 AND when < 1769860800.5",
    "part = 1 AND part = 9 AND part != 5 AND part > 8",
    "started_at <= '9999-01-01' AND closed_at != '2026-01-01'",
    "flow_id = 'x' OR flow_id = 'y' OR count = 3 AND done = true",
    "((((count = 3))))",
]
FAIL = [
    "flow_id = 'other'",
    "count = 3 AND flow_id = 'x'",
    "(flow_id = 'full' OR count = 3) AND done = false",
    "notes = 'quick ox'",
    "tags = 'green'",
    "part = 5",
    "closed_at > '2000-01-01'",
    "word = 'SAY \"HI\"'",
]


@on_each_store
async def test_comparisons_hold_as_the_indexes_say(runtime: Runtime, client: AsyncClient) -> None:
    """Every type of index, and the fields that every run has."""
    await client.start_flow(Shelf(), "full", "stay", FULL)
    for query in HOLD:
        assert [e.flow_id for e in (await client.search_flows(query, 5)).entries] == ["full"], query
    for query in FAIL:
        assert (await client.search_flows(query, 5)).entries == (), query


@on_each_store
async def test_a_value_that_is_missing_only_differs(runtime: Runtime, client: AsyncClient) -> None:
    """Without a value `!=` holds and nothing else does; other Flows' runs have no value either."""
    await client.start_flow(Shelf(), "empty", "stay")
    await client.start_flow(flow(Stay, name="Bare"), "bare", "stay")
    found = await client.search_flows("count != 3 AND part != 1 AND done != true", 5)
    assert [entry.flow_id for entry in found.entries] == ["bare", "empty"]
    for query in ("count < 3", "count >= 3", "done = false", "notes = 'x'", "tags = 'x'"):
        assert (await client.search_flows(query, 5)).entries == ()


@on_each_store
async def test_entries_tell_of_runs_without_their_history(
    runtime: Runtime, client: AsyncClient
) -> None:
    """Ids, how it stands, when it began and ended, and what is indexed."""
    run_id = await client.start_flow(Shelf(), "full", "stay", FULL)
    await client.stop_flow("full", StopFlowOptions(StopType.FAIL, "enough"))
    (entry,) = (await client.search_flows("status = 'FAILED'", 5)).entries
    assert (entry.flow_id, entry.run_id, entry.flow_type) == ("full", run_id, "Shelf")
    assert entry.closed_at is not None
    assert entry.started_at <= entry.closed_at
    assert entry.indexed_attributes == {
        "word": 'say "hi"',
        "size": Size.LARGE,
        "notes": "The quick brown Fox, and a hen",
        "tags": ["red", "blue"],
        "count": 3,
        "price": Decimal("2.50"),
        "done": True,
        "when": datetime(2026, 1, 31, 12, tzinfo=UTC),
        "part": {"a/b": 1, "c": 9},
    }


@on_each_store
async def test_pages_go_through_all_that_fits(runtime: Runtime, client: AsyncClient) -> None:
    """Newest first, each once, whatever lies between them; more than the store gives at once."""
    shelf = Shelf()
    for number in range(130):
        await client.start_flow(shelf, f"run-{number}", "end" if number % 3 else "stay")
    for number in range(130):
        if number % 3:
            await client.wait_for_flow(f"run-{number}")
    wanted = [f"run-{number}" for number in reversed(range(130)) if number % 3]
    for query in ("status = 'COMPLETED'", "status != 'RUNNING'"):
        found: list[str] = []
        token, pages = "", 0
        while token or not pages:
            page = await client.search_flows(query, 40, token)
            found += [entry.flow_id for entry in page.entries]
            token, pages = page.next_page_token, pages + 1
        assert found == wanted
        assert pages == 3


MISTAKES = {
    "status": "at 7: expected one of = != < <= > >=, got the end",
    "status =": "at 9: expected a text in quotes, a number, true or false, got the end",
    "status = RUNNING": "at 10: expected a text in quotes, a number, true or false, got 'RUNNING'",
    "status == 'RUNNING'": "at 9: expected a text in quotes, a number, true or false, got '='",
    "status = 'RUNNING": "at 10: expected the quote that ends this text",
    "status = 'RUNNING' status": "at 20: expected AND, OR or the end, got 'status'",
    "(status = 'RUNNING'": "at 20: expected AND, OR or ), got the end",
    "status = 'RUNNING')": "at 19: expected AND, OR or the end",
    "AND status = 'RUNNING'": "at 1: expected a field or (, got 'AND'",
    "status = 'RUNNING' OR": "at 22: expected a field or (, got the end",
    "count = 12abc": "at 9: expected a field, a test or a value",
    "; drop": "at 1: expected a field, a test or a value, got '; drop'",
    "(" * 40: "at 33: expected at most 32 parentheses",
    "hidden = 'x'": "'hidden' is no field: known are closed_at, count, done",
    "__class__ = 'x'": "'__class__' is no field",
    "count = 'x'": "at 9: count = 'x' cannot be compared: give a number",
    "count = true": "count = True cannot be compared: give a number",
    "done < true": "done < True cannot be compared: give true or false, with = or !=",
    "notes > 'x'": "notes > 'x' cannot be compared: give a text in quotes, with = or !=",
    "when > 'noon'": "when > 'noon' cannot be compared: give a text such as '2026-01-31T",
    "status = 'DONE'": "at 10: status is one of RUNNING, COMPLETED, FAILED",
    "x" * 5000: "search query has 5,000 letters: give at most 4,096",
}


@on_each_store
async def test_mistakes_in_a_query_name_the_place(runtime: Runtime, client: AsyncClient) -> None:
    """Where it is, what was expected there, what stands there instead."""
    runtime.register(Shelf())
    for query, text in MISTAKES.items():
        with pytest.raises(DefinitionError) as caught:
            await client.search_flows(query, 5)
        assert text in str(caught.value), query
    wrong: Any = None
    for mistake in ((wrong, 5, ""), ("", 0, ""), ("", 5, wrong)):
        with pytest.raises(DefinitionError):
            await client.search_flows(*mistake)


def test_and_binds_closer_than_or() -> None:
    """With parentheses, without, and in small letters."""

    def true(query: str) -> bool:
        return holds(parse(query), lambda each: each.operand == 1)

    assert true("a = 1 OR b = 1 AND c = 0")
    assert not true("(a = 1 or b = 1) and c = 0")
    assert true("a = 0 AND b = 0 OR c = 1")
    assert true("")


def test_a_status_that_every_result_has_is_asked_of_the_store() -> None:
    """Not one among alternatives, nor one that is excluded."""
    assert pinned(parse("count = 1 AND status = 'FAILED'"), "status") == "FAILED"
    assert pinned(parse("status = 'FAILED'"), "status") == "FAILED"
    for query in ("status = 'FAILED' OR count = 1", "status != 'FAILED'", ""):
        assert pinned(parse(query), "status") == ""


@given(st.text(alphabet="ab =<>!()'\"\\1.5 ANDORtrue\n", max_size=60))
def test_any_text_is_read_or_refused_by_place(text: str) -> None:
    """The parser raises nothing of its own, and what it reads it can go through."""
    try:
        query = parse(text)
    except DefinitionError as error:
        named = "search query at " in str(error)
        assert named, error  # noqa: PT017 - most texts are refused, and some are read
    else:
        assert all(each.place >= 1 for each in comparisons(query))


@given(st.text(max_size=30).filter(lambda text: "\0" not in text), st.sampled_from("\"'"))
def test_any_text_can_stand_in_quotes(text: str, quote: str) -> None:
    """With a backslash before quotes and backslashes."""
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    assert parse(f"a={quote}{escaped}{quote}") == Comparison("a", "=", text, 3)


@on_each_store
async def test_a_token_that_no_page_has_given_is_refused(
    runtime: Runtime, client: AsyncClient
) -> None:
    """It would look like the end of what there is."""
    for number in range(3):
        await client.start_flow(Shelf(), f"shelf-{number}", "stay")
    token = (await client.search_flows("", 1)).next_page_token
    assert len((await client.search_flows("", 5, token)).entries) == 2
    for wrong in ("garbage", f"{token} ", "x" * 100_000):
        with pytest.raises(DefinitionError, match=r"next_page_token is .*: give one that a page"):
            await client.search_flows("", 1, wrong)
