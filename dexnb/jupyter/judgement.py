"""`Judgement`: what the linter says of one reading of a Flow, found out beside the kernel."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dexnb.clock import wall
from dexnb.flow.registry import RegisteredFlow
from dexnb.jupyter.sources import Sources
from dexnb.model.finding import Finding
from dexnb.model.shown import cut

PATIENCE = 10.0
"""Seconds that a picture waits for it at most."""

_LONGEST = 300


class Judgement:
    """Lints a Flow once, in a thread of its own, when it is first asked for; never raises.

    Settings are those of the nearest pyproject.toml, with the margin and the least
    heartbeat_timeout of the Lab.

    Args:
        flow: As a registry keeps it.
        margin: Seconds that a round leaves free before the heartbeat deadline.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes, in seconds.
        told: Called on that thread when it has been judged.
    """

    def __init__(
        self,
        flow: RegisteredFlow,
        *,
        margin: float,
        minimum_heartbeat: float,
        told: Callable[[], None],
    ) -> None:
        """Judge nothing yet."""
        self._flow = flow
        self._numbers = {"margin": margin, "minimum_heartbeat": minimum_heartbeat}
        self._told = told
        self._lock = threading.Lock()
        self._begun = False
        self._done = threading.Event()
        self._reason = ""
        self._rules = 0
        self._at: float | None = None
        self.sources = Sources(flow)
        self.findings: tuple[Finding, ...] = ()
        self.judged: frozenset[str] = frozenset()
        """The codes of the rules that there are, once it is done."""

    def begin(self) -> None:
        """Begin, unless it has begun; returns at once."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
        threading.Thread(target=self._work, name="dexnb-lint", daemon=True).start()

    def wait(self) -> None:
        """Begin, and wait until it is done."""
        self.begin()
        self._done.wait(PATIENCE)

    @property
    def document(self) -> dict[str, Any]:
        """How far it is, as the page shows it: plain JSON.

        `state` is `pending`, `done` or `failed` (`reason` says why), `at` wall time in seconds.
        """
        done = self._done.is_set()
        return {
            "state": ("failed" if self._reason else "done") if done else "pending",
            "reason": self._reason,
            "flow": self._flow.flow_type,
            "steps": len(self._flow.steps),
            "rules": self._rules,
            "at": self._at,
        }

    def _work(self) -> None:
        try:
            self.findings, self.judged = self._judge()
        except Exception as error:  # noqa: BLE001 - a linter that fails must not disturb a run
            self._reason = cut(f"{type(error).__name__}: {error}", _LONGEST)
        self._at = wall()
        self._done.set()
        self._told()

    def _judge(self) -> tuple[tuple[Finding, ...], frozenset[str]]:
        # Loaded here, where nobody waits for it.
        from dexnb.lint import lint_flow, rules  # noqa: PLC0415
        from dexnb.lint.config import config_near  # noqa: PLC0415

        settings = replace(config_near(Path.cwd()).settings, **self._numbers)  # type: ignore[arg-type]
        found = lint_flow(self._flow, settings=settings)
        self._rules = sum(settings.asks(rule.code, rule.name) for rule in rules())
        return tuple(found), frozenset(rule.code for rule in rules())
