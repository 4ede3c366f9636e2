"""What a Flow's knobs are worth in one run, and what follows for its Steps; arithmetic only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from dexnb.model.budget import Window
from dexnb.model.flow_graph import FlowGraph, Node, Timing

OPTIONS: dict[str, bool] = {
    "execute_method_timeout": False,
    "heartbeat_timeout": False,
    "initial_interval": True,
    "maximum_interval": True,
    "maximum_attempts": True,
    "total_duration": True,
    "backoff_coefficient": True,
}
"""The options that a run may override, and whether they are of the retry policy."""

OFFERED = (
    "heartbeat_timeout",
    "execute_method_timeout",
    "total_duration",
    "maximum_attempts",
    "initial_interval",
    "maximum_interval",
)
WINDOW = ("sleep", "call_timeout", "heartbeat_timeout")


def is_number(value: Any) -> bool:
    """Tell a finite number from everything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


class KnobValues:
    """A Flow's knobs with the values that a run has.

    Args:
        graph: Read from the Flow.
        overrides: The run's, by knob name.
        margin: Seconds that a round leaves free before the heartbeat deadline.
    """

    def __init__(self, graph: FlowGraph, overrides: Mapping[str, Any], margin: float) -> None:
        """Find the knobs."""
        self.margin = margin
        self.steps = [node for node in graph.nodes if node.kind == "step" and node.settings]
        self._overrides = {name: float(v) for name, v in overrides.items() if is_number(v)}
        self._constants: dict[str, dict[str, float]] = {}
        for node in self.steps:
            for constant in node.constants:
                if is_number(constant.value):
                    found = self._constants.setdefault(constant.name, {})
                    found[node.name] = float(constant.value or 0)
        self.names = [*self._constant_knobs(), *self._option_knobs()]

    def _constant_knobs(self) -> Iterator[str]:
        for name, defaults in self._constants.items():
            if len(set(defaults.values())) == 1:
                yield name
            else:
                # Constants of the same name in several modules are several knobs.
                yield from (f"{step}.{name}" for step in defaults)

    def _option_knobs(self) -> Iterator[str]:
        for node in self.steps:
            fed = {feed for constant in node.constants for feed in constant.feeds}
            polls = "sleep" in fed
            for option in OFFERED:
                name = f"{node.name}.{option}"
                wanted = option in node.given or (polls and option == "heartbeat_timeout")
                if (wanted or name in self._overrides) and option not in fed:
                    yield name

    def knows(self, name: str) -> bool:
        """Tell whether a run may override this."""
        step, _, rest = name.rpartition(".")
        if not step:
            return name in self._constants
        node = self._step(step)
        return node is not None and (rest in OPTIONS or step in self._constants.get(rest, {}))

    def _step(self, name: str) -> Node | None:
        return next((node for node in self.steps if node.name == name), None)

    def is_count(self, name: str) -> bool:
        """Tell a number of tries from a duration."""
        return self.feeds(name) == {"maximum_attempts"}

    def feeds(self, name: str) -> set[str]:
        """Give what a knob decides."""
        step, _, rest = name.rpartition(".")
        if rest in OPTIONS and step:
            return {rest}
        return {
            feed
            for node in self.touched(name)
            for constant in node.constants
            if constant.name == rest
            for feed in constant.feeds
        }

    def touched(self, name: str) -> list[Node]:
        """Give the Steps that a knob has to do with."""
        step, _, rest = name.rpartition(".")
        if step:
            return [node for node in self.steps if node.name == step]
        return [node for node in self.steps if node.name in self._constants.get(rest, {})]

    def default(self, name: str) -> float:
        """Give what the code says."""
        step, _, rest = name.rpartition(".")
        node = self._step(step)
        if node is not None and rest in OPTIONS:
            return _setting(node, rest)
        defaults = self._constants[rest]
        return defaults[step] if step else next(iter(defaults.values()))

    def value(self, name: str) -> float:
        """Give what the run has."""
        value = self._overrides.get(name, self.default(name))
        return int(value) if self.is_count(name) else value

    def constant(self, node: Node, name: str) -> float:
        """Give what a constant is for one Step of the run."""
        default = self._constants[name][node.name]
        return self._overrides.get(f"{node.name}.{name}", self._overrides.get(name, default))

    def timing(self, node: Node, feed: str) -> Timing | None:
        """Give the longest duration of its kind in a Step; None where one cannot be told."""
        found = [timing for timing in node.timings if timing.feeds == feed]
        if not found or any(timing.value is None for timing in found):
            return None
        return max(found, key=lambda timing: self._now(node, timing))

    def _now(self, node: Node, timing: Timing) -> float:
        defaults = {name: steps.get(node.name, 0.0) for name, steps in self._constants.items()}
        change = sum(
            by * (self.constant(node, name) - defaults[name])
            for name, by in timing.parts
            if node.name in self._constants.get(name, {})
        )
        return (timing.value or 0.0) + change

    def amount(self, node: Node, feed: str) -> float | None:
        """Give the longest sleep, call timeout or option of a Step; None where it is not known."""
        timing = self.timing(node, feed)
        return None if timing is None else self._now(node, timing)

    def sleep_at(self, step_type: str, line: int) -> float | None:
        """Give how long a Step sleeps at a line of its source; None where that is not known."""
        node = self._step(step_type)
        for timing in () if node is None else node.timings:
            inside = timing.line <= line <= timing.end_line
            if node is not None and timing.feeds == "sleep" and inside and timing.value is not None:
                return self._now(node, timing)
        return None

    def option(self, node: Node, option: str) -> float:
        """Give an option of a Step as the run has it."""
        own = self._overrides.get(f"{node.name}.{option}")
        if own is not None:
            return own
        amount = self.amount(node, option)
        return _setting(node, option) if amount is None or amount <= 0 else amount

    def window(self, node: Node) -> Window | None:
        """Give a Step's window rule; None where it does not sleep, or for how long is not known."""
        interval = self.amount(node, "sleep")
        if interval is None:
            return None
        call = self.amount(node, "call_timeout") or 0.0
        return Window(interval, call, self.option(node, "heartbeat_timeout"), self.margin)

    def slope(self, node: Node, feed: str, name: str) -> float:
        """Give by how much a duration of a Step grows with a knob."""
        step, _, rest = name.rpartition(".")
        if step and rest in OPTIONS:
            return 1.0 if step == node.name and rest == feed else 0.0
        if f"{node.name}.{feed}" in self._overrides:
            return 0.0
        timing = self.timing(node, feed)
        return 0.0 if timing is None else dict(timing.parts).get(rest, 0.0)

    def moves(self, node: Node, feed: str, name: str) -> bool:
        """Tell whether a knob changes that duration of a Step."""
        return self.slope(node, feed, name) != 0

    def moves_window(self, node: Node, name: str) -> bool:
        """Tell whether a knob has a part in a Step's window rule."""
        return any(self.moves(node, feed, name) for feed in WINDOW)

    def problem(self, name: str) -> str:
        """Say what is wrong with the run's values as far as a knob has a part in it."""
        for node in self.touched(name):
            rule = self.window(node)
            if rule is not None and not rule.holds and self.moves_window(node, name):
                return f"in {node.name} {rule.problem}"
        return ""


def _setting(node: Node, option: str) -> float:
    settings = node.settings or {}
    holder = settings["retry"] if OPTIONS[option] else settings
    return float(holder[option])
