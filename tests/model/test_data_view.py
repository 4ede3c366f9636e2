"""What a page shows of Attributes, Channels, locks and waits; `tests/data` holds the whole form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dexnb.model.data_view import MOST_CONDITIONS, MOST_IDS, MOST_NAMES, MOST_SUBFLOWS
from dexnb.model.run_state import RunState
from dexnb.model.run_view import View, apply, new_view, view_of
from tests.model.logs import Log
from tests.model.random_history import Drawn

PLAN = {
    "wait_for": True,
    "wait_for_failure": "PROCEED",
    "locks": {"wait_for": ["a"], "execute": ["a", "b"]},
    "loads": {"wait_for": {}, "execute": {}},
}
STEP = "AwaitJob-1"
RUNNING: dict[str, Any] = {
    "flow_id": "SubFlow:f-1",
    "run_id": "r-1",
    "status": "RUNNING",
    "completions": [],
    "error_type": "",
    "error_message": "",
}
FAILED: dict[str, Any] = {
    **RUNNING,
    "status": "FAILED",
    "completions": [{"step_type": "A", "output": None}, {"step_type": "B"}, {"output": 2}],
    "error_type": "STEP_DECISION_FAILED",
    "error_message": "lost",
}


def waiting(*conditions: dict[str, Any]) -> Log:
    """Give a log in which a Step waits since 110 s."""
    log = Log().scheduled(100, plan=PLAN).add("locks_taken", 100, STEP, locks=["a"])
    wait = {"kind": "any_of", "conditions": list(conditions), "combinations": []}
    return log.add("wait_started", 110, STEP, 1, wait=wait)


def timer(seconds: float) -> dict[str, Any]:
    """Give the document of a Timer."""
    return {"kind": "timer", "id": "late", "seconds": seconds}


def channel(name: str, least: int) -> dict[str, Any]:
    """Give the document of a Channel's condition."""
    return {"kind": "channel", "id": "x", "channel": name, "at_least": least, "at_most": None}


def step_of(log: Log) -> View:
    """Give what the view tells of the one execution."""
    found: View = view_of(log.events)["steps"][STEP]
    return found


def agree(view: View, state: RunState) -> None:
    """Hold a view against the state that decides."""
    assert view["attributes"] == state.attributes
    assert view["locks"] == state.locks
    pending = {name: each["pending"] for name, each in view["channels"].items() if each["pending"]}
    assert pending == {name: len(messages) for name, messages in state.channels.items()}
    for key, step in view["steps"].items():
        active = state.active.get(key)
        assert (step["ended_at"] is None) == (active is not None)
        if active is None:
            assert step["state"] == ""
            continue
        assert step["state"] == {"running": ""}.get(active.phase, active.phase)
        assert step["method"] == active.method
        assert step["locks"].get(active.method, []) == active.locks
        if active.phase == "waiting":
            conditions = step["wait"]["conditions"]
            fired = [at for at, each in enumerate(conditions) if each["state"] in _FIRED]
            assert fired == sorted(active.fired)


_FIRED = ("fired", "skipped")


@given(st.integers(0, 10**9))
def test_the_view_of_a_legal_history_agrees_with_the_state(seed: int) -> None:
    """After every turn, whatever was written, consumed, locked, waited for and cancelled."""
    drawn = Drawn(seed)
    view = view_of(drawn.events)
    agree(view, drawn.state)
    for events in drawn.run(60):
        for event in events:
            apply(view, event)
        agree(view, drawn.state)


def test_random_histories_hold_what_they_are_to_try() -> None:
    """Else the comparison would prove little."""
    seen: dict[str, int] = {}
    for seed in range(80):
        drawn = Drawn(seed)
        for events in drawn.run(60):
            for event in events:
                seen[event.kind] = seen.get(event.kind, 0) + 1
    wanted = {"wait_ended", "timer_fired", "subflow_changed", "locks_taken", "wait_failed"}
    wanted |= {"rpc_started", "rpc_refused", "rpc_completed", "delay_over", "step_cancelled"}
    assert all(seen.get(kind, 0) >= 10 for kind in wanted), seen


def test_a_wait_tells_what_is_waited_for_and_stays_when_it_is_over() -> None:
    """Timers in store time, Channels by what they need, and what became of each."""
    log = waiting(timer(30), channel("orders", 2))
    step = step_of(log)
    assert (step["state"], step["method"]) == ("waiting", "wait_for")
    assert step["wait"]["began_at"] == 110
    late, orders = step["wait"]["conditions"]
    assert (late["label"], late["due_at"], late["state"]) == ("late", 140, "")
    assert (orders["label"], orders["need"]) == ("orders", 2)
    results = {"timers": [True], "messages": {}, "subflows": [], "wait_failed": False}
    log.add("timer_fired", 120, STEP, condition=0, skipped=True)
    step = step_of(log.add("wait_ended", 121, STEP, results=results))
    assert (step["state"], step["method"], step["wait"]["ended_at"]) == ("queued", "execute", 121)
    late, orders = step["wait"]["conditions"]
    assert (late["state"], late["changed_at"], orders["state"]) == ("skipped", 120, "")


def test_messages_that_a_wait_consumes_are_pending_no_more() -> None:
    """The newest value and the number of all that were published stay."""
    log = waiting(channel("orders", 1))
    log.add("channel_published", 111, channel="orders", values=[1, 2], source="", request_id="")
    results = {"timers": [], "messages": {"orders": [["1", 1]]}, "subflows": []}
    view = view_of(log.add("wait_ended", 111, STEP, results=results).events)
    orders = view["channels"]["orders"]
    assert (orders["pending"], orders["published"], orders["newest"]) == (1, 2, 2)
    assert view["steps"][STEP]["wait"]["conditions"][0]["state"] == "consumed"


def test_a_subflow_is_known_by_its_flow_id_and_stays() -> None:
    """A link needs the id when the wait is long over."""
    document = {"kind": "subflow", "id": "", "start": {"flow_type": "Parcel"}, "reuse_policy": "R"}
    log = waiting(document)
    for at, result in ((111, RUNNING), (115, FAILED)):
        log.add("subflow_changed", at, STEP, condition=0, result=result)
    step = step_of(log.add("wait_ended", 115, STEP, results={}))
    assert step["subflows"] == {
        "SubFlow:f-1": {
            "run_id": "r-1",
            "flow_type": "Parcel",
            "status": "FAILED",
            "began_at": 111,
            "changed_at": 115,
            "outputs": [None, 2],
            "error_type": "STEP_DECISION_FAILED",
            "error_message": "lost",
        }
    }
    assert (step["wait"]["subflow_count"], step["wait"]["subflows_ended"]) == (1, 1)
    (condition,) = step["wait"]["conditions"]
    assert (condition["label"], condition["state"]) == ("Parcel", "FAILED")


def test_of_a_thousand_subflows_those_that_run_are_kept() -> None:
    """Those that have ended go first, and all are counted."""
    document = {"kind": "subflow", "id": "", "start": {"flow_type": "Parcel"}, "reuse_policy": "R"}
    log = waiting(timer(9), *[document] * 1000)
    for status, count in (("RUNNING", 1000), ("COMPLETED", 990)):
        for place in range(1, count + 1):
            result = {**RUNNING, "flow_id": f"SubFlow:f-{place}", "status": status}
            log.add("subflow_changed", 111, STEP, condition=place, result=result)
    step = step_of(log)
    assert (step["wait"]["subflow_count"], step["wait"]["subflows_ended"]) == (1000, 990)
    assert len(step["subflows"]) == MOST_SUBFLOWS
    running = {name for name, told in step["subflows"].items() if told["status"] == "RUNNING"}
    assert running == {f"SubFlow:f-{place}" for place in range(991, 1001)}


def test_attempts_of_both_methods_are_told_apart() -> None:
    """Each method counts its attempts from 1; logs without the field are of execute."""
    log = Log().scheduled(100, plan=PLAN).begun(100, method="wait_for")
    log.add("wait_started", 101, STEP, 1, wait={"kind": "skip", "conditions": []})
    log.add("wait_ended", 101, STEP, results={}).begun(102, method="execute").beat(103, "1")
    first, second = step_of(log)["attempts"]
    assert (first["method"], first["outcome"], first["ended_at"]) == ("wait_for", "wait", 101)
    assert (second["method"], second["ended_at"], second["beat_count"]) == ("execute", None, 1)
    assert step_of(Log().scheduled(100).begun(100))["attempts"][0]["method"] == "execute"


def test_a_wait_without_end_ends_with_its_step() -> None:
    """Whoever cancels it."""
    step = step_of(waiting(timer(30)).add("step_cancelled", 115, STEP))
    assert (step["state"], step["wait"]["ended_at"]) == ("", 115)


def test_what_is_kept_is_bounded_and_the_newest_stays() -> None:
    """Thousands of instances, messages and conditions do not fill a page."""
    count = 3 * MOST_NAMES
    log = waiting(*[timer(1)] * (2 * MOST_CONDITIONS))
    writes = {"attributes": {f"m/{n}": n for n in range(count)}}
    writes["published"] = [[f"n/{n}", n] for n in range(count)]  # type: ignore[assignment]
    for request in ("q1", "q2"):
        log.add("rpc_completed", 111, request_id=request, name="r", writes=writes)
    log.add("rpc_started", 111, request_id="q", locks=[f"m/{n}" for n in range(count)])
    log.add("channel_published", 112, channel="c", values=[0] * 2 * MOST_IDS, source="")
    view = view_of(log.events)
    names = [f"m/{n}" for n in range(count - MOST_NAMES, count)]
    assert list(view["attributes"]) == list(view["locks"]) == names
    assert list(view["channels"]) == [f"n/{n}" for n in range(count - MOST_NAMES + 1, count)] + [
        "c"
    ]
    assert view["channels"]["c"]["pending"] == 2 * MOST_IDS
    assert len(view["channels"]["c"]["ids"]) == MOST_IDS
    wait = view["steps"][STEP]["wait"]
    assert (wait["count"], len(wait["conditions"])) == (2 * MOST_CONDITIONS, MOST_CONDITIONS)


def test_more_messages_than_are_known_by_id_are_counted_out() -> None:
    """Those that come first go first."""
    log = Log().add("channel_published", 101, channel="c", values=[0] * 2 * MOST_IDS, source="")
    view = view_of(log.events)
    everyone = [str(number) for number in range(1, 2 * MOST_IDS + 1)]
    writes = {"removed": [["c", number] for number in everyone]}
    for event in Log().add("rpc_completed", 102, request_id="", name="r", writes=writes).events[1:]:
        apply(view, event)
    assert (view["channels"]["c"]["pending"], view["channels"]["c"]["ids"]) == (0, [])


@pytest.mark.parametrize(
    ("kind", "payload", "text"),
    [
        ("rpc_completed", {"request_id": "q", "name": "add"}, "RPC add has run"),
        (
            "rpc_refused",
            {"request_id": "q", "reason": "locked: count"},
            "an RPC was refused, locked: count",
        ),
        ("flow_timed_out", {"policy": "FAIL"}, "the Flow ran longer than its timeout: it fails"),
        (
            "flow_timed_out",
            {"policy": "HANDLER"},
            "the Flow ran longer than its timeout: handle_timeout runs",
        ),
        (
            "time_travelled",
            {"from_run_id": "x", "events": 7, "reason": "bug"},
            "goes on behind the first 7 events of an earlier run: bug",
        ),
        (
            "wait_failed",
            {"failure": {"error_type": "E", "detail": "d", "last_error": None}},
            "wait_for has failed, execute follows without it: E: d",
        ),
        ("config_changed", {"config": {"step_durability": "ASYNC"}}, "changed: step_durability"),
        ("parent_added", {"parent": {}}, "another run waits for this one too"),
    ],
)
def test_what_is_done_to_a_run_is_noted_in_plain_words(
    kind: Any, payload: dict[str, Any], text: str
) -> None:
    """What was written is left out of the note."""
    view = new_view()
    log = Log().scheduled(100).add(kind, 105, STEP, **payload, writes={})
    for event in log.events:
        apply(view, event)
    (note,) = view["notes"]
    assert (note["kind"], note["text"], note["payload"]) == (kind, text, payload)
