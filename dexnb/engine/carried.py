"""`Carried`: a coroutine whose user code may leave the program, on a loop that must go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a coroutine gave, or what of SystemExit's kind it raised."""

    value: T | None = None
    error: BaseException | None = None

    def give(self) -> T:
        """Give the value, or raise the error where it belongs: at the caller."""
        if self.error is not None:
            raise self.error
        return cast("T", self.value)


class Carried(Coroutine[Any, Any, Answer[T]]):
    """Runs a coroutine; SystemExit, KeyboardInterrupt and its own CancelledError become values.

    A task that such an error leaves ends its loop, or seems to be cancelled. Not an `async def`
    around it, because one that never begins would leave the coroutine never awaited.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: Coroutine[Any, Any, T]) -> None:
        """Run this."""
        self._inner = inner

    def __await__(self) -> Generator[Any, Any, Answer[T]]:
        """Await it in a task of another's."""
        try:
            return Answer((yield from self._inner.__await__()))
        except Exception:
            raise
        except BaseException as error:  # noqa: BLE001 - it is raised by `give`
            return _kept(error)

    def send(self, value: Any) -> Any:
        """Go on."""
        return self._step(self._inner.send, value)

    def throw(self, *error: Any) -> Any:
        """Go on with an error."""
        return self._step(self._inner.throw, *error)

    def close(self) -> None:
        """End it where it is."""
        self._inner.close()

    def _step(self, step: Callable[..., Any], *given: Any) -> Any:
        answer: Answer[T]
        try:
            return step(*given)
        except StopIteration as stop:
            answer = Answer(stop.value)
        except Exception:
            raise
        except BaseException as error:  # noqa: BLE001 - it is raised by `give`
            answer = _kept(error)
        raise StopIteration(answer)


def _kept(error: BaseException) -> Answer[Any]:
    """Give the error as a value, unless it is how this task itself is cancelled."""
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error
    return Answer(error=error)
