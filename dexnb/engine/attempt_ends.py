"""`AttemptEnds`: writes how attempts have ended, with the turn that it leads to where one can."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from dexnb.engine.attempt import Attempt
from dexnb.engine.near_runs import NearRuns, Turn
from dexnb.engine.outbox import Outbox
from dexnb.errors import LeaseLost, ProviderError
from dexnb.model.message import Message, encode_message
from dexnb.providers import NewMessage, NewWorkItem, Provider

ACK_DELAYS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.5)
STRANGE_ERRORS = 10
"""Tries of an acknowledgement where the error is no ProviderError: the store is at fault."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a run is told, as it is and as it is stored."""

    message: Message
    text: str

    @classmethod
    def of(cls, message: Message) -> Told:
        """Encode a message.

        Raises:
            DocumentError: It cannot be stored.
        """
        return cls(message, encode_message(message))


@dataclass(slots=True)
class _End:
    attempt: Attempt
    message: NewMessage | None
    retry: NewWorkItem | None
    turn: Turn | None
    failures: int = 0
    refused: bool = False


class AttemptEnds:
    """The acknowledgements of one engine.

    Args:
        provider: The store.
        near: The states at hand.
        outbox: Holds what attempts still have to say.
    """

    def __init__(self, provider: Provider, near: NearRuns, outbox: Outbox) -> None:
        """Start with none under way."""
        self._provider = provider
        self._near = near
        self._outbox = outbox

    async def write(
        self, attempt: Attempt, told: Told | None, retry: NewWorkItem | None = None
    ) -> None:
        """Write an attempt's end; try again for as long as the lease holds.

        A store that is busy for a moment must not cost a second run of the Step.
        """
        # The acknowledgement carries the checkpoint, and Stream messages need the live lease.
        self._outbox.forget(attempt.token)
        if attempt.streamed:
            await self._outbox.messages_sent()
        run_id = attempt.item.run_id
        message = None if told is None else NewMessage(run_id, told.text)
        turn = None if told is None else self._near.turn_of(run_id, told.message)
        end = _End(attempt, message, retry, turn)
        while not await self._try(end):
            await asyncio.sleep(ACK_DELAYS[min(end.failures, len(ACK_DELAYS) - 1)])
            end.failures += 1

    async def _try(self, end: _End) -> bool:
        """Tell whether the attempt is done with: written, or never to be."""
        attempt = end.attempt
        try:
            await self._write(end)
        except LeaseLost:
            # After a failure the store may have done its part before, and only the answer was lost.
            if not end.failures:
                attempt.note_late("result")
            elif end.turn is not None and not end.refused:
                await self._near.applied_before(*end.turn)
            else:
                self._doubt(end)
        except Exception as error:  # noqa: BLE001 - whatever a store raises
            attempt.record("engine_error", {"error": f"{type(error).__name__}: {error}"})
            return self._is_given_up(end, error)
        return True

    def _is_given_up(self, end: _End, error: Exception) -> bool:
        """Tell whether an acknowledgement that has failed is not made again."""
        strange = not isinstance(error, ProviderError)
        if strange and end.failures < STRANGE_ERRORS:
            return False
        if isinstance(error, ProviderError) and error.retryable:
            return False
        if not strange and end.turn is not None and not end.refused:
            # The turn is what was refused: as a message it is judged by itself.
            end.refused = True
            return False
        self._doubt(end)
        return True

    def _doubt(self, end: _End) -> None:
        """Say of a turn that nobody knows whether it was applied, though it may be refused now."""
        if end.turn is not None:
            self._near.doubted(end.turn[0].run_id)

    async def _write(self, end: _End) -> None:
        token, durable = end.attempt.token, end.attempt.durable
        if end.turn is None or end.message is None or end.refused:
            await self._provider.ack_work_item(token, end.message, end.retry, durable=durable)
            return
        commit, state = end.turn
        if await self._provider.ack_work_item_with_turn(
            token, end.message, commit, durable=durable
        ):
            self._near.applied(commit, state)
