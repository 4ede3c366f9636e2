"""`LabFindings`: what a Lab's page tells against its Flow, and the source that it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.flow.registry import RegisteredFlow
from dexnb.jupyter.cell_names import name_cells_of_kernel
from dexnb.jupyter.findings import other_input, page_findings, sent
from dexnb.jupyter.judgement import Judgement
from dexnb.model.finding import Place
from dexnb.model.flow_graph import FlowGraph


class LabFindings:
    """The findings of one Lab; each reading of its Flow is linted once.

    Args:
        flow: As a registry keeps it.
        graph: Its graph.
        margin: Seconds that a round leaves free before the heartbeat deadline.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes, in seconds.
        told: Called, on another thread, when the linter has said what it has to say.
    """

    def __init__(
        self,
        flow: RegisteredFlow,
        graph: FlowGraph,
        *,
        margin: float,
        minimum_heartbeat: float,
        told: Callable[[], None],
    ) -> None:
        """Judge nothing yet."""
        name_cells_of_kernel()
        self._graph, self._margin = graph, margin
        self._judgement = Judgement(
            flow, margin=margin, minimum_heartbeat=minimum_heartbeat, told=told
        )
        self._shown: frozenset[tuple[str, str, int]] = frozenset()

    def begin(self) -> None:
        """Let the linter begin; returns at once."""
        self._judgement.begin()

    def wait(self) -> None:
        """Wait until the linter is done."""
        self._judgement.wait()

    def page(self, overrides: Mapping[str, Any], input: str) -> dict[str, Any]:
        """Give the page's part: `findings`, and `lint`, how far the linter is.

        Args:
            overrides: The values of the knobs.
            input: What is to be said of the open run's input; empty for nothing.
        """
        found = page_findings(self._judgement, self._graph, overrides, margin=self._margin)
        found += [other_input(input)] if input else []
        self._shown = frozenset(_spot(each.place) for each in found)
        return {"findings": [sent(each) for each in found], "lint": self._judgement.document}

    def source_of(self, place: Place) -> dict[str, Any]:
        """Give a few lines of source around the place of a finding; see `Sources.excerpt`.

        Raises:
            DefinitionError: No finding of the page names that place, or its text is not known.
            DocumentError: The text is no Python any more.
        """
        told = _spot(place) in self._shown
        found = self._judgement.sources.excerpt(place) if told else None
        if found is None:
            where = place.path or place.cell or "this place"
            raise DefinitionError(f"the source of {where} is not known here")
        return found


def _spot(place: Place) -> tuple[str, str, int]:
    return place.path, place.cell, place.line
