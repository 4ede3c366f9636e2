"""`Condition`: what a Step waits for between its two methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.flow.physical import check_word
from dexnb.model.shown import shown

MAX_COUNT = 2**31 - 1
"""Most messages that a condition may ask for."""


@dataclass(frozen=True)
class Condition(ABC):
    """One thing to wait for; `condition_id` is empty where none was given.

    Raises:
        DefinitionError: A given id is empty or no printable str.
    """

    condition_id: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Check the id."""
        if self.condition_id != "":
            check_word("condition_id", self.condition_id)

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Give its plain form."""


@dataclass(frozen=True)
class ChannelCondition(Condition):
    """Messages of a Channel; make it with `for_one` and its siblings of a Channel.

    Args:
        channel: Physical name of the Channel, or of an instance of a map.
        at_least: Messages that must be there.
        at_most: Messages that are taken; None for all that are there.
        value_type: What the Channel holds.

    Raises:
        DefinitionError: A count cannot hold.
    """

    channel: str
    at_least: int
    at_most: int | None
    value_type: Any

    def __post_init__(self) -> None:
        """Check the counts."""
        super().__post_init__()
        check_count(self.channel, "at_least", self.at_least)
        if self.at_most is None:
            return
        check_count(self.channel, "at_most", self.at_most)
        if self.at_most < self.at_least:
            raise DefinitionError(
                f"Channel {self.channel} condition at_most is {self.at_most}: "
                f"give at least at_least, which is {self.at_least}"
            )

    def document(self) -> dict[str, Any]:
        """Give its plain form."""
        return {
            "kind": "channel",
            "id": self.condition_id,
            "channel": self.channel,
            "at_least": self.at_least,
            "at_most": self.at_most,
        }


def condition_id_of(given: Any) -> str:
    """Give the id of a condition whose maker was called with this one.

    Raises:
        DefinitionError: It is neither None nor a printable, non-empty str.
    """
    return "" if given is None else check_word("condition_id", given)


def check_count(channel: str, what: str, count: Any) -> None:
    """Refuse what is no count of messages.

    Raises:
        DefinitionError: It is negative, too large or no int.
    """
    if type(count) is not int or not 0 <= count <= MAX_COUNT:
        raise DefinitionError(
            f"Channel {channel} condition {what} is {shown(count)}: "
            "give a number of messages such as 1"
        )
