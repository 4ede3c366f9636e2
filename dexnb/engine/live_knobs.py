"""`LiveKnobs`: the knob values of runs, for attempts that begin and for those that run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dexnb.engine.attempt import Attempt
from dexnb.engine.deadlines import Deadlines
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.overrides import Binding
from dexnb.engine.step_hosts import StepHosts
from dexnb.graph.knob_values import KnobValues
from dexnb.model.flow_graph import FlowGraph
from dexnb.model.json_text import to_text
from dexnb.providers import NewWorkItem

MOST_RUNS = 10_000
"""Runs whose turned knobs are remembered; the store has them too."""


class LiveKnobs:
    """What knobs are turned to, beyond what a run's work items say; on the control loop.

    Args:
        options: The engine's.
        hosts: Where sleeping Steps are woken.
        deadlines: What judges by new timeouts.
    """

    def __init__(self, options: RuntimeOptions, hosts: StepHosts, deadlines: Deadlines) -> None:
        """Start with nothing turned."""
        self._options = options
        self._hosts = hosts
        self._deadlines = deadlines
        self._turned: dict[str, dict[str, Any]] = {}

    @property
    def minimum_heartbeat(self) -> float:
        """Smallest heartbeat_timeout that the engine takes, in seconds."""
        return self._options.minimum_heartbeat_timeout.total_seconds()

    def of(self, run_id: str) -> dict[str, Any]:
        """Give what was turned while the run was open here."""
        return self._turned.get(run_id, {})

    def learn(self, run_id: str, overrides: Mapping[str, Any]) -> None:
        """Take a run's values from its state, which may be newer than its work items."""
        if overrides and (run_id in self._turned or len(self._turned) < MOST_RUNS):
            self._turned[run_id] = {**self.of(run_id), **overrides}

    def forget(self, run_id: str) -> None:
        """Drop the values of a run that has ended."""
        self._turned.pop(run_id, None)

    def bind(self, attempt: Attempt) -> None:
        """Give an attempt that is about to begin its own copy of the Step, with its run's values.

        Values that the code of today refuses are left out, and that is noted.
        """
        overrides = {**attempt.payload.overrides, **self.of(attempt.item.run_id)}
        if not overrides and not self._options.live_knobs:
            return
        try:
            binding = Binding(
                attempt.step, overrides, self.minimum_heartbeat, attempt.payload.options
            )
        except Exception as error:  # noqa: BLE001 - a user's get_step_options() may raise anything
            text = f"knobs {', '.join(overrides)} are not applied: {error}"
            attempt.record("engine_error", {"error": text}, len(text))
            return
        self._adopt(attempt, binding, overrides)
        attempt.step = binding.step

    def turn(
        self,
        graph: FlowGraph,
        run_id: str,
        overrides: Mapping[str, float],
        attempts: Iterable[Attempt],
    ) -> None:
        """Give a run's attempts other values while they run, and remember them for later ones.

        A sleep goes on until the new interval since its begin is over, and ends now if it is.

        Args:
            graph: The Flow's, for how long it sleeps where.
            run_id: The run.
            overrides: What is turned.
            attempts: Those of the run that are under way.

        Raises:
            DefinitionError: A Step's options do not hold with them; nothing is changed.
        """
        under_way = [each for each in attempts if each.binding and each.closing is None]
        for attempt in under_way:
            if attempt.binding is not None:
                attempt.binding.change(overrides)
        self.learn(run_id, overrides)
        for attempt in under_way:
            self._took(attempt, graph, overrides)

    def _took(self, attempt: Attempt, graph: FlowGraph, overrides: Mapping[str, float]) -> None:
        binding = attempt.binding
        if binding is None:
            return
        changed = binding.settings != attempt.settings
        together = {**attempt.payload.overrides, **overrides}
        self._adopt(attempt, binding, together)
        if changed:
            attempt.record("limits_changed", attempt.limits)
            self._deadlines.disarm(attempt)
            self._deadlines.arm(attempt)
        values = KnobValues(graph, together, 0.0)
        step_type = attempt.step.step_type
        self._hosts.retime(attempt, lambda line: values.sleep_at(step_type, line))

    def _adopt(self, attempt: Attempt, binding: Binding, overrides: dict[str, Any]) -> None:
        attempt.binding = binding
        attempt.settings = binding.settings
        if overrides != attempt.payload.overrides:
            # A retry carries them on.
            attempt.payload = replace(attempt.payload, overrides=overrides)
            attempt.turned = True

    def item_to_hand_back(self, attempt: Attempt) -> NewWorkItem | None:
        """Give the work item that takes an attempt's place with the values it has now.

        None where the stored item says the same.
        """
        if not attempt.turned:
            return None
        return replace(
            attempt.item,
            payload=to_text(attempt.payload.to_json()),
            checkpoint=attempt.checkpoint,
            visible_at=0.0,
        )
