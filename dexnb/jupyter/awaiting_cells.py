"""What a kernel does not do by itself while a cell awaits: feel an interrupt, serve the page.

An interrupt cancels what the cell awaits, but wakes no loop, so it is felt when something else
does. And ipykernel 6 handles one shell message at a time, of which an awaiting cell is one, so that
what the page says waits for its end; later kernels give comms threads of their own.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

LOOK_SECONDS = 0.05
LAST_QUEUEING_RELEASE = 6
_COMM_KINDS = frozenset({"comm_msg", "comm_open", "comm_close"})


def attend_awaiting_cells() -> None:
    """Do both from the cell that runs on; a second call adds nothing."""
    kernel = _kernel()
    if kernel is None:
        return
    events = kernel.shell.events
    events.register("pre_run_cell", _cells.begin)
    events.register("post_run_cell", _cells.end)
    _cells.begin()


class _AwaitingCells:
    """Wakes the loop now and then while a cell runs on it, and serves what is queued."""

    def __init__(self) -> None:
        self._in_cell = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, info: Any = None) -> None:
        """Learn that a cell begins; IPython calls this."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._in_cell = True
        if self._task is None or self._task.done():
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                return
            self._task = loop.create_task(self._attend())

    def end(self, result: Any = None) -> None:
        """Learn that it has ended; IPython calls this."""
        if threading.current_thread() is threading.main_thread():
            self._in_cell = False

    async def _attend(self) -> None:
        while self._in_cell:
            await asyncio.sleep(LOOK_SECONDS)
            if self._in_cell:
                await serve_queued_comms()


_cells = _AwaitingCells()


async def serve_queued_comms() -> None:
    """Handle the comm messages that wait in the kernel's queue; all others keep their places."""
    kernel = _kernel_that_queues()
    if kernel is None:
        return
    waiting = [kernel.msg_queue.get_nowait() for _ in range(kernel.msg_queue.qsize())]
    for entry in waiting:
        if not _is_comm(kernel, entry):
            kernel.msg_queue.put_nowait(entry)
    parent, ident = kernel.get_parent("shell"), kernel._parent_ident["shell"]  # noqa: SLF001 - ipykernel 6 has no other way
    for entry in waiting:
        if _is_comm(kernel, entry):
            _, dispatch, args = entry
            try:
                await dispatch(*args)
            finally:
                # What the cell prints belongs to the cell.
                kernel.set_parent(ident, parent, "shell")


def _kernel() -> Any:
    base = sys.modules.get("ipykernel.kernelbase")
    if base is None or not base.Kernel.initialized():
        return None
    kernel = base.Kernel.instance()
    return kernel if getattr(kernel, "shell", None) is not None else None


def _kernel_that_queues() -> Any:
    kernel = _kernel()
    if kernel is None or sys.modules["ipykernel"].version_info[0] > LAST_QUEUEING_RELEASE:
        return None
    return kernel if hasattr(kernel, "msg_queue") else None


def _is_comm(kernel: Any, entry: Any) -> bool:
    try:
        _, frames = kernel.session.feed_identities(entry[2][0], copy=False)
        # Not `deserialize`, which would take the message's signature as used.
        header = kernel.session.unpack(frames[1].bytes)
    except (AttributeError, IndexError, TypeError, ValueError):
        return False
    return header.get("msg_type") in _COMM_KINDS
