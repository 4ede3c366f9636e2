"""`Observer`: is told what an engine does, as it happens; counts and logs hang on it."""

from __future__ import annotations

from typing import Any

from dexnb.engine.attempt import Attempt
from dexnb.model.event import TelemetryKind
from dexnb.providers import Commit


class Observer:
    """Does nothing by itself; override what matters.

    Calls come in the middle of the engine's work: they must neither block nor raise. Payloads are
    those of the telemetry events of that kind and must not be changed.
    """

    def attempt(self, attempt: Attempt, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Learn what happened in an attempt; on any thread."""

    def engine(self, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Learn what happened beside the attempts: dispatcher cycles, errors of the store."""

    def committed(self, commit: Commit) -> None:
        """Learn of a turn that this engine has applied; on the control loop."""


class Observers(Observer):
    """Tells several observers of the same, in order; `append` before the engine starts."""

    def __init__(self, *observers: Observer) -> None:
        """Begin with these."""
        self._all = list(observers)

    def append(self, observer: Observer) -> None:
        """Tell this one too."""
        self._all.append(observer)

    def attempt(self, attempt: Attempt, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Tell all."""
        for each in self._all:
            each.attempt(attempt, kind, payload)

    def engine(self, kind: TelemetryKind, payload: dict[str, Any]) -> None:
        """Tell all."""
        for each in self._all:
            each.engine(kind, payload)

    def committed(self, commit: Commit) -> None:
        """Tell all."""
        for each in self._all:
            each.committed(commit)
