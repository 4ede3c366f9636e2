"""`WaitResults`: what a wait of a Step gave to the Step's execute."""

from __future__ import annotations

from typing import Any

from dexnb.errors import ContextCallError
from dexnb.model.shown import shown


class WaitResults:
    """The results document of a wait, read; empty where there was no wait."""

    def __init__(self, document: dict[str, Any] | None) -> None:
        """Take the document, None without a wait."""
        self._document = document or {}

    @property
    def failed(self) -> bool:
        """Whether the Step's wait_for failed for good and execute runs nevertheless."""
        return bool(self._document.get("wait_failed"))

    @property
    def subflows(self) -> list[dict[str, Any]]:
        """One raw result for each SubFlow condition, in order."""
        found: list[dict[str, Any]] = self._document.get("subflows", [])
        return found

    def messages(self, physical: str) -> list[tuple[str, Any]]:
        """Give the ids and encoded values of the messages that the wait took."""
        return [tuple(message) for message in self._document.get("messages", {}).get(physical, ())]

    def has_timer_fired(self, index: int | None = None) -> bool:
        """Tell whether a Timer of the wait has fired, or any of them without an index.

        Raises:
            ContextCallError: The wait has no Timer of that index.
        """
        fired: list[bool] = self._document.get("timers", [])
        if index is None:
            return any(fired)
        if not self._document or self.failed:
            return False
        if type(index) is not int or not 0 <= index < len(fired):
            last = f"from 0 to {len(fired) - 1}" if fired else "the wait has no Timer"
            raise ContextCallError("has_timer_fired", f"index is {shown(index)}: give one, {last}")
        return bool(fired[index])
