"""How a message reaches the page, and its answer the right thread of the kernel.

ipykernel 7.4 sends what a page says to the thread in whose context the kernel last published on
that comm, so a page would wait for a running cell once a cell has published. Messages are therefore
published in the context of the page's own last message, and the kernel's note is dropped, so that
what the page says goes to the thread that the page asked for. Other kernels know no such note.
"""

from __future__ import annotations

import contextvars
import threading
from contextlib import nullcontext
from typing import Any

_NOTE = "_reply_subshell_id"
_LOCK = "_reply_subshell_lock"


class Route:
    """The way to the pages of one widget; for any thread.

    Args:
        widget: An ipywidgets widget.
    """

    def __init__(self, widget: Any) -> None:
        """Start without a page."""
        self._widget = widget
        self._context: contextvars.Context | None = None
        self._lock = threading.Lock()
        self.forget_thread()

    def heard(self) -> None:
        """Learn that a page has said something; call it where that arrives."""
        self._context = contextvars.copy_context()

    def send(self, content: dict[str, Any]) -> bool:
        """Send a custom message; tell whether it could be sent.

        A comm that is closed, and a kernel that ends, are no errors of whoever publishes.
        """
        context = self._context
        with self._lock:
            try:
                if context is None:
                    self._widget.send(content)
                else:
                    context.copy().run(self._widget.send, content)
            except Exception:  # noqa: BLE001 - zmq, traitlets and the kernel each have their own
                return False
            finally:
                self.forget_thread()
        return True

    def forget_thread(self) -> None:
        """Drop the kernel's note of the thread that published last."""
        comm = getattr(self._widget, "comm", None)
        values: dict[str, Any] = getattr(comm, "__dict__", {})
        with values.get(_LOCK, nullcontext()):
            values.pop(_NOTE, None)
