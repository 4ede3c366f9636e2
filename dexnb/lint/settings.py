"""`LintSettings`: what a linter is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dexnb.model.budget import MARGIN
from dexnb.model.settings import MINIMUM_HEARTBEAT_TIMEOUT

Target = Literal["dexnb", "dex"]


@dataclass(frozen=True, slots=True)
class LintSettings:
    """What a linter is told.

    Args:
        margin: Seconds that a round of a poll leaves free before the heartbeat deadline.
        minimum_heartbeat: Smallest heartbeat_timeout that the runtime takes, in seconds.
        selected: Codes or names of the rules to ask; empty for all.
        ignored: Codes or names of rules to leave out, from the selected ones too.
        target: Where the Flow is to run: what only Dex refuses is said for `dex` alone.
    """

    margin: float = MARGIN
    minimum_heartbeat: float = MINIMUM_HEARTBEAT_TIMEOUT
    selected: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    target: Target = "dexnb"

    def asks(self, code: str, name: str) -> bool:
        """Tell whether a rule is to be asked."""
        own = {code, name}
        chosen = not self.selected or bool(own & self.selected)
        return chosen and not own & self.ignored
