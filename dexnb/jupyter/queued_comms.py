"""Serving a page's messages while a cell awaits, on kernels that would queue them until its end.

ipykernel 6 handles one shell message at a time, and an awaiting cell is one. Later kernels give
comms threads of their own, and need nothing of this.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

LOOK_SECONDS = 0.1
LAST_QUEUEING_RELEASE = 6
_COMM_KINDS = frozenset({"comm_msg", "comm_open", "comm_close"})


async def wait_and_serve(waiting: Coroutine[Any, Any, T]) -> T:
    """Await something in a cell, and serve the page meanwhile where the kernel does not."""
    if _kernel_that_queues() is None:
        return await waiting
    task = asyncio.ensure_future(waiting)
    try:
        while not task.done():
            await asyncio.wait([task], timeout=LOOK_SECONDS)
            await serve_queued_comms()
    finally:
        task.cancel()
    return task.result()


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


def _kernel_that_queues() -> Any:
    ipykernel = sys.modules.get("ipykernel")
    base = sys.modules.get("ipykernel.kernelbase")
    if ipykernel is None or base is None or ipykernel.version_info[0] > LAST_QUEUEING_RELEASE:
        return None
    if not base.Kernel.initialized():
        return None
    kernel = base.Kernel.instance()
    return kernel if hasattr(kernel, "msg_queue") else None


def _is_comm(kernel: Any, entry: Any) -> bool:
    try:
        _, frames = kernel.session.feed_identities(entry[2][0], copy=False)
        # Not `deserialize`, which would take the message's signature as used.
        header = kernel.session.unpack(frames[1].bytes)
    except (AttributeError, IndexError, TypeError, ValueError):
        return False
    return header.get("msg_type") in _COMM_KINDS
