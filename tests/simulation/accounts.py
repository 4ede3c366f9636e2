"""`History`: goes through a run's events and keeps its own account of Steps, locks and counters."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

from dexnb.model.event import Event
from tests.simulation.scripts import COUNTERS, FlowScript, MethodScript

ENDS = ("step_completed", "step_failed", "step_cancelled")
ADDS = {"add": COUNTERS[0], "count": COUNTERS[1], "tally": "Tally"}
"""What each RPC adds one to."""

LOCKING = ("add", "count")
"""Those that hold a lock over that."""


class History:
    """A run's events, each looked at as it came.

    Args:
        events: All of them.
        script: Of the Flow.
        repeated: Requests that the run may have taken over from one it goes on from.
    """

    def __init__(
        self, events: Sequence[Event], script: FlowScript, repeated: Container[str] = ()
    ) -> None:
        """Look at every event."""
        self._scripts = {step.name: step for step in script.steps}
        self._repeated = repeated
        self.problems: list[str] = []
        self.wrote: list[tuple[str, str, int]] = []
        self.counted: dict[str, int] = {}
        self._open: dict[str, str] = {}
        self._done: set[str] = set()
        self._locks: dict[str, str] = {}
        self._until: dict[str, float] = {}
        self._ended: set[tuple[str, int]] = set()
        self._travelled = False
        self._looks: dict[str, Callable[[Event], None]] = {
            "step_scheduled": self._scheduled,
            "locks_taken": self._locked,
            "wait_started": self._method_ended,
            "wait_failed": self._method_ended,
            "wait_ended": self._waited,
            **dict.fromkeys(ENDS, self._method_ended),
            "subflow_changed": self._subflow,
            "time_travelled": self._went_on,
            "rpc_started": self._rpc_began,
            "rpc_completed": self._rpc_completed,
            "rpc_refused": self._rpc_refused,
        }
        for event in events:
            self._look(event)

    def _look(self, event: Event) -> None:
        key, kind = event.step_execution_id, event.kind
        if key and kind != "step_scheduled" and key not in self._open:
            self.problems.append(f"{kind} of {key}, which is not active (event {event.seq})")
            return
        look = self._looks.get(kind)
        if look is not None:
            look(event)

    def _scheduled(self, event: Event) -> None:
        key = event.step_execution_id
        if key in self._done or key in self._open:
            self.problems.append(f"{key} was scheduled twice")
        plan = event.payload.get("plan") or {}
        self._open[key] = "wait_for" if plan.get("wait_for") else "execute"

    def _locked(self, event: Event) -> None:
        for name in self._script(event.step_execution_id).adds:
            self._lock(name, event.step_execution_id)

    def _waited(self, event: Event) -> None:
        self._open[event.step_execution_id] = "execute"

    def _went_on(self, _: Event) -> None:
        self._travelled = True

    def _subflow(self, event: Event) -> None:
        """A SubFlow that has ended has ended for good."""
        place = (event.step_execution_id, event.payload["condition"])
        if place in self._ended:
            self.problems.append(f"SubFlow of {place} goes on behind its end (event {event.seq})")
        if event.payload["result"]["status"] != "RUNNING":
            self._ended.add(place)

    def _rpc_began(self, event: Event) -> None:
        request = event.payload["request_id"]
        self._until[request] = event.payload.get("until", 0.0)
        for name in event.payload["locks"]:
            self._lock(name, request)

    def _rpc_completed(self, event: Event) -> None:
        request, name = event.payload["request_id"], event.payload["name"]
        adds = ADDS.get(name)
        if name in LOCKING and self._locks.get(ADDS[name]) != request and not self._is_old(request):
            self.problems.append(f"{name} {request} wrote without its lock (event {event.seq})")
        self._unlock(request)
        self._add(event, request, (adds,) if adds else ())

    def _rpc_refused(self, event: Event) -> None:
        request = event.payload["request_id"]
        self._unlock(request)
        if event.payload["reason"].startswith("expired") and event.time < self._until.get(
            request, 0
        ):
            self.problems.append(f"{request} has lost locks that it had renewed ({event.seq})")

    def _is_old(self, who: str) -> bool:
        """Tell a request of the run that this one goes on from."""
        return self._travelled and who in self._repeated

    def _method_ended(self, event: Event) -> None:
        key = event.step_execution_id
        self._unlock(key)
        if event.kind in ("wait_started", "step_completed") and key.startswith("Step"):
            script = self._script(key)
            self.wrote.append((key, self._open[key], event.attempt))
            self._add(event, key, script.adds)
            if script.attempts and event.attempt > script.attempts:
                limit = f"attempt {event.attempt} of {script.attempts}"
                self.problems.append(f"{key} ended well in {limit}")
        if event.kind == "wait_failed":
            self._open[key] = "execute"
        if event.kind in ENDS:
            del self._open[key]
            self._done.add(key)

    def _add(self, event: Event, who: str, names: Sequence[str]) -> None:
        """Whoever may add has added one to what was there, once."""
        written: dict[str, Any] = event.payload.get("writes", {}).get("attributes", {})
        added = {name: n for name, n in written.items() if name in (*COUNTERS, "Tally")}
        if self._is_old(who):
            # It was computed in another run, and is written here once more as it was.
            self.counted.update(added)
            return
        for name in names:
            self.counted[name] = self.counted.get(name, 0) + 1
        wanted = {name: self.counted[name] for name in names}
        if added != wanted:
            self.problems.append(f"{who} has written {added}, not {wanted} (event {event.seq})")

    def _script(self, key: str) -> MethodScript:
        step = self._scripts[key.rpartition("-")[0]]
        return step.waiting if self._open[key] == "wait_for" else step.execute

    def _lock(self, name: str, holder: str) -> None:
        other = self._locks.setdefault(name, holder)
        if other != holder:
            self.problems.append(f"{holder} took {name}, which {other} holds")

    def _unlock(self, holder: str) -> None:
        self._locks = {name: other for name, other in self._locks.items() if other != holder}
