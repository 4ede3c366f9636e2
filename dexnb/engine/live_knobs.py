"""`LiveKnobs`: the knob values of runs, for attempts that begin and for those that run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

from dexnb.engine.attempt import Attempt, Payload
from dexnb.engine.deadlines import Deadlines
from dexnb.engine.known_knobs import KnownKnobs, Numbers
from dexnb.engine.options import RuntimeOptions
from dexnb.engine.overrides import Binding
from dexnb.engine.step_hosts import StepHosts
from dexnb.errors import DocumentError
from dexnb.graph.knob_values import KnobValues
from dexnb.model.flow_graph import FlowGraph
from dexnb.model.json_text import to_text
from dexnb.model.message import KnobsChanged
from dexnb.model.run_state import RunState
from dexnb.providers import Commit, NewWorkItem, Provider

MOST_RUNS = 10_000
"""Runs whose turned knobs are remembered; the store has them too. The oldest goes first."""


class LiveKnobs:
    """What knobs are turned to, beyond what a run's work items say; on the control loop.

    A value that was turned here is live before the run's history has it. As soon as it has, the
    value is as old as its event, and what another engine had recorded behind that wins.

    Args:
        provider: Where the histories are.
        options: The engine's.
        hosts: Where sleeping Steps are woken.
        deadlines: What judges by new timeouts.
    """

    def __init__(
        self, provider: Provider, options: RuntimeOptions, hosts: StepHosts, deadlines: Deadlines
    ) -> None:
        """Start with nothing turned."""
        self._provider = provider
        self._options = options
        self._hosts = hosts
        self._deadlines = deadlines
        self._known: OrderedDict[str, KnownKnobs] = OrderedDict()

    @property
    def minimum_heartbeat(self) -> float:
        """Smallest heartbeat_timeout that the engine takes, in seconds."""
        return self._options.minimum_heartbeat_timeout.total_seconds()

    def of(self, run_id: str) -> dict[str, Any]:
        """Give the newest values that are known here, beside those of work items."""
        return self._newest(run_id, {}, {})[0]

    def learn(self, run_id: str, state: RunState) -> None:
        """Take a run's values from its state, which may be newer than its work items."""
        if state.overrides:
            self._of_run(run_id).learn(state.overrides, state.events)

    def committed(self, commit: Commit) -> None:
        """Take what a turn that was applied here has recorded."""
        known = self._known.get(commit.run_id)
        if commit.closes:
            self._known.pop(commit.run_id, None)
        elif known is not None:
            known.read(commit.events)

    def may_be_behind(self, item: NewWorkItem) -> bool:
        """Tell whether the store may have newer values than this engine and the item have.

        The first attempt of an execution comes with what the turn knew that scheduled it.
        """
        if self.is_unsure(item.run_id):
            return True
        if item.attempt == 1:
            return False
        return item.run_id in self._known or self._options.live_knobs or _has_overrides(item)

    def is_unsure(self, run_id: str) -> bool:
        """Tell whether something was turned here that may be in the history by now."""
        return bool(self._known.get(run_id, _NOTHING).turned)

    async def catch_up(self, run_id: str) -> RunState | None:
        """Learn what the store has; give the run's state there, None where there is no run.

        Raises:
            ProviderError: The store does not tell; what is known here stays.
            DocumentError: Its state cannot be read.
        """
        known = self._known.get(run_id)
        asked = () if known is None else tuple(known.turned)
        record = await self._provider.read_run(run_id=run_id)
        if record is None:
            return None
        state = RunState.from_text(record.state)
        self.learn(run_id, state)
        if known is None or not known.turned:
            return state
        events = await self._provider.read_events(run_id, known.turned_at)
        known.read(events)
        known.not_before(asked, max((event.seq for event in events), default=0))
        return state

    def _of_run(self, run_id: str) -> KnownKnobs:
        known = self._known.setdefault(run_id, KnownKnobs())
        if len(self._known) > MOST_RUNS:
            self._known.popitem(last=False)
        return known

    def _newest(
        self, run_id: str, overrides: Mapping[str, Any], numbers: Mapping[str, int]
    ) -> tuple[dict[str, Any], Numbers]:
        return self._known.get(run_id, _NOTHING).newest(overrides, numbers)

    def bind(self, attempt: Attempt) -> None:
        """Give an attempt that is about to begin its own copy of the Step, with its run's values.

        Values that the code of today refuses are left out, and that is noted.
        """
        given = attempt.payload
        overrides, numbers = self._newest(attempt.item.run_id, given.overrides, given.overrides_at)
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
        self._adopt(attempt, binding, overrides, numbers)
        attempt.step = binding.step

    def turn(
        self,
        graph: FlowGraph,
        run_id: str,
        message: KnobsChanged,
        at: int,
        attempts: Iterable[Attempt],
    ) -> None:
        """Give a run's attempts other values while they run, and remember them for later ones.

        A sleep goes on until the new interval since its begin is over, and ends now if it is.

        Args:
            graph: The Flow's, for how long it sleeps where.
            run_id: The run.
            message: What is turned, which the run is told next.
            at: How many events the run has.
            attempts: Those of the run that are under way.

        Raises:
            DefinitionError: A Step's options do not hold with them; nothing is changed.
        """
        overrides = {**self.of(run_id), **message.overrides}
        under_way = [each for each in attempts if each.binding and each.closing is None]
        for attempt in under_way:
            if attempt.binding is not None:
                attempt.binding.change(overrides)
        # All that the attempts know is older, too.
        seen = (each.payload.overrides_at.values() for each in under_way)
        self._of_run(run_id).turn(message, max(at, *chain.from_iterable(seen), 0))
        for attempt in under_way:
            self._took(attempt, graph)

    def _took(self, attempt: Attempt, graph: FlowGraph) -> None:
        binding, given = attempt.binding, attempt.payload
        if binding is None:
            return
        changed = binding.settings != attempt.settings
        together, numbers = self._newest(attempt.item.run_id, given.overrides, given.overrides_at)
        self._adopt(attempt, binding, together, numbers)
        if changed:
            attempt.record("limits_changed", attempt.limits)
            self._deadlines.disarm(attempt)
            self._deadlines.arm(attempt)
        values = KnobValues(graph, together, 0.0)
        step_type = attempt.step.step_type
        self._hosts.retime(attempt, lambda line: values.sleep_at(step_type, line))

    def _adopt(
        self, attempt: Attempt, binding: Binding, overrides: dict[str, Any], numbers: Numbers
    ) -> None:
        attempt.binding = binding
        attempt.settings = binding.settings
        if overrides != attempt.payload.overrides:
            # A retry carries them on.
            attempt.payload = replace(attempt.payload, overrides=overrides, overrides_at=numbers)
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


_NOTHING = KnownKnobs()


def _has_overrides(item: NewWorkItem) -> bool:
    with suppress(DocumentError):
        return bool(Payload.from_text(item.payload).overrides)
    return False
