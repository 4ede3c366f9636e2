"""The logs in `tests/data` are those of today's engine, and fold to what stands beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dexnb.model.event import DURABLE_KINDS, load_log
from dexnb.model.run_state import RunState
from dexnb.model.run_view import view_of
from tests.data.make import DRAWN, HERE, SCENES, run, state_of

REMAKE = "run `python -m tests.data.make`, look at the difference, and keep it with the change"
NAMES = sorted([*SCENES, *DRAWN])


def beside(name: str, kind: str) -> Any:
    """Give a document that stands beside a log."""
    return json.loads((HERE / f"{name}.{kind}.json").read_text("ascii"))


def test_every_log_has_its_scene_and_its_folds() -> None:
    """And nothing is left over from a scene that is gone."""
    for suffix in (".jsonl", ".state.json", ".view.json"):
        assert sorted(path.name for path in HERE.glob(f"*{suffix}")) == [n + suffix for n in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_a_log_folds_to_the_state_beside_it(name: str) -> None:
    """TypeScript is held to the same files."""
    events = list(load_log(HERE / f"{name}.jsonl"))
    state = state_of(events)
    assert state.to_json() == beside(name, "state")
    assert RunState.from_text(state.to_text()).to_json() == beside(name, "state")
    assert view_of(events) == beside(name, "view")


@pytest.mark.parametrize("name", SCENES)
def test_a_log_is_what_the_run_gives_today(name: str) -> None:
    """The same to the last byte, telemetry included."""
    events = run(name)
    assert events == list(load_log(HERE / f"{name}.jsonl")), REMAKE
    assert state_of(events).to_json() == beside(name, "state"), REMAKE


def test_the_logs_hold_every_durable_kind_and_what_is_hard_to_write() -> None:
    """Retries, recovery, branches, outputs of all sorts, odd text, a knob that was turned."""
    text = "".join(Path(path).read_text("ascii") for path in sorted(HERE.glob("*.jsonl")))
    kinds = {json.loads(line)["kind"] for line in text.splitlines()}
    assert kinds >= DURABLE_KINDS
    assert {"retry_scheduled", "stream_message", "round_sleep", "heartbeat"} <= kinds
    assert all(odd in text for odd in (r"\u2028", r"\ud83e\udd8a", "<b>", "$dict", r"\ud800"))
    statuses = {beside(name, "state")["status"] for name in NAMES}
    assert statuses == {"RUNNING", "COMPLETED", "FAILED", "CANCELED"}
