"""`Replies`: each command of a page is carried out once and answered as often as it is asked."""

from __future__ import annotations

import concurrent.futures
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from dexnb.errors import DexnbError, DocumentError
from dexnb.model.json_text import to_text

MOST = 500
"""Answers that are remembered; a page repeats a command for a few seconds only."""

LONGEST_ID = 100

Reply = dict[str, Any]
Carry = Callable[[str, dict[str, Any]], "concurrent.futures.Future[Any]"]


class Replies:
    """The commands of one widget; for any thread.

    Args:
        carry: Begins a command and gives its future.
        answer: Called with each reply, on whatever thread the command ended.
    """

    def __init__(self, carry: Carry, answer: Callable[[Reply], None]) -> None:
        """Start with no command."""
        self._carry = carry
        self._answer = answer
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Reply | None] = OrderedDict()

    def take(self, content: dict[str, Any]) -> None:
        """Take a command; one that is known is answered again, or left if it is under way."""
        identity, name, args = (content.get(key) for key in ("id", "name", "args"))
        if not isinstance(identity, str) or not 0 < len(identity) <= LONGEST_ID:
            return
        with self._lock:
            known = identity in self._known
            reply = self._known.get(identity)
            if not known:
                self._known[identity] = None
                while len(self._known) > MOST:
                    self._known.popitem(last=False)
        if known:
            if reply is not None:
                self._answer(reply)
            return
        self._begin(identity, name, args if isinstance(args, dict) else {})

    def _begin(self, identity: str, name: Any, args: dict[str, Any]) -> None:
        try:
            future = self._carry(str(name), args)
        except Exception as error:  # noqa: BLE001 - whatever it was, the page waits for an answer
            future = concurrent.futures.Future()
            future.set_exception(error)
        future.add_done_callback(partial(self._done, identity))

    def _done(self, identity: str, future: concurrent.futures.Future[Any]) -> None:
        reply = _reply(identity, future)
        with self._lock:
            if identity in self._known:
                self._known[identity] = reply
        self._answer(reply)


def _reply(identity: str, future: concurrent.futures.Future[Any]) -> Reply:
    reply = {"kind": "reply", "id": identity, "ok": True, "state": "done", "error": ""}
    try:
        result = future.result()
        to_text(result)
    except DocumentError:
        return {**reply, "result": None}
    except (Exception, concurrent.futures.CancelledError) as error:  # noqa: BLE001 - shown to the user
        return {**reply, "ok": False, "error": _text_of(error), "result": None}
    return {**reply, "result": result}


def _text_of(error: BaseException) -> str:
    text = str(error)
    if isinstance(error, DexnbError) and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
