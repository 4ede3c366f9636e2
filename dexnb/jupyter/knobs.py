"""`LabKnobs`: what a Lab's knobs are turned to, for the run that goes on and for the next one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dexnb.engine import Run
from dexnb.graph.knobs import check_knob, find_knobs
from dexnb.model.flow_graph import FlowGraph
from dexnb.model.knob import Knob


class LabKnobs:
    """The knobs of one Lab.

    Args:
        margin: Seconds that a round leaves free before the heartbeat deadline.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes.
    """

    def __init__(self, margin: float, minimum_heartbeat: float) -> None:
        """Start with the values of the code."""
        self.margin = margin
        self._minimum_heartbeat = minimum_heartbeat
        self._chosen: dict[str, Any] = {}
        self._shown: tuple[Any, list[Knob]] | None = None

    @property
    def chosen(self) -> dict[str, Any]:
        """What the next run begins with."""
        return dict(self._chosen)

    def adopt(self, graph: FlowGraph, overrides: Mapping[str, Any]) -> None:
        """Begin with a run's values, as far as the code of today knows them."""
        known = {knob.name for knob in find_knobs(graph, overrides)}
        self._chosen = {name: value for name, value in overrides.items() if name in known}
        self._shown = None

    def turn(
        self, graph: FlowGraph, run: Run | None, name: str, value: Any, current: Mapping[str, Any]
    ) -> float:
        """Turn a knob: of an open run at once, and for the next one.

        Args:
            graph: The Flow's.
            run: The open run to turn, or None to turn the next run only.
            name: A constant's name, or `StepType.option`.
            value: A duration, seconds, or a whole number for counts.
            current: The values that the new one must fit.

        Raises:
            DefinitionError: There is no such knob, or the value breaks the window rule; the old one
                stays.
        """
        if run is not None:
            number = run.set_knob(name, value, margin=self.margin)
        else:
            number = check_knob(
                graph,
                {**current, **self._chosen},
                name,
                value,
                margin=self.margin,
                minimum_heartbeat=self._minimum_heartbeat,
            )
        self._chosen[name] = number
        return number

    def shown(self, graph: FlowGraph, current: Mapping[str, Any]) -> list[Knob]:
        """Give the knobs as the page shows them: the open run's values, then what is chosen."""
        together = {**current, **self._chosen}
        key = (id(graph), tuple(sorted(together.items())))
        if self._shown is None or self._shown[0] != key:
            knobs = find_knobs(
                graph, together, margin=self.margin, minimum_heartbeat=self._minimum_heartbeat
            )
            self._shown = (key, knobs)
        return self._shown[1]
