"""A real kernel with a page that is only messages: cells, comms, subshells and interrupts."""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from jupyter_core.utils import ensure_event_loop

from dexnb.clock import perf_counter

Message = dict[str, Any]
PATIENCE = 30.0


class Kernel:
    """One kernel process, with its output gathered as it comes.

    Args:
        folder: Where it works.
        before: A folder whose packages come before those that are installed.
    """

    def __init__(self, folder: Path, before: Path | None = None) -> None:
        """Start it."""
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(cwd=str(folder), env=_environment(before))
        self.client: BlockingKernelClient = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)
        self.messages: list[tuple[float, Message]] = []
        self._arrived = threading.Condition()
        self._closing = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        socket = self.client.iopub_channel.socket
        while not self._closing:
            if not socket.poll(100):
                continue
            _, message = self.client.session.recv(socket)
            with self._arrived:
                self.messages.append((perf_counter(), message))
                self._arrived.notify_all()

    def find(
        self, fits: Callable[[Message], bool], *, begin: int = 0, timeout: float = PATIENCE
    ) -> tuple[float, Message]:
        """Wait for a message that fits, from number `begin` on; give when it came, too."""
        until = perf_counter() + timeout
        with self._arrived:
            while True:
                for came, message in self.messages[begin:]:
                    if fits(message):
                        return came, message
                begin = len(self.messages)
                left = until - perf_counter()
                if left <= 0:
                    raise AssertionError("no such message came")
                self._arrived.wait(left)

    def begin(self, code: str) -> str:
        """Run a cell; give its message id without waiting."""
        return str(self.client.execute(code))

    def busy(self, cell: str) -> bool:
        """Say whether a cell that was begun has not ended."""
        return not any(_is_idle(message, cell) for _, message in list(self.messages))

    def end(self, cell: str, timeout: float = PATIENCE) -> list[Message]:
        """Wait until a cell has ended; give its outputs.

        Raises:
            AssertionError: The cell raised.
        """
        self.find(lambda message: _is_idle(message, cell), timeout=timeout)
        found = [message for _, message in self.messages if _parent(message) == cell]
        for message in found:
            if message["msg_type"] == "error":
                raise AssertionError("\n".join(message["content"]["traceback"]))
        return found

    def run(self, code: str, timeout: float = PATIENCE) -> list[Message]:
        """Run a cell to its end; give its outputs."""
        return self.end(self.begin(code), timeout)

    def value(self, expression: str) -> str:
        """Give the text of an expression's value."""
        for message in self.run(f"print({expression})"):
            if message["msg_type"] == "stream":
                return str(message["content"]["text"]).strip()
        raise AssertionError(f"{expression} printed nothing")

    def subshell(self) -> str:
        """Ask for a thread of its own, as JupyterLab does for comms."""
        message = self.client.session.msg("create_subshell_request")
        self.client.control_channel.send(message)
        reply = self.client.get_control_msg(timeout=PATIENCE)
        return str(reply["content"]["subshell_id"])

    def close(self) -> None:
        """End the kernel."""
        self._closing = True
        self._reader.join()
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        # The client's calls ran on this loop, and leave it open.
        ensure_event_loop().close()


class PageClient:
    """The page's side of a comm.

    Args:
        kernel: Whose widget it shows.
        comm_id: The widget's comm.
        subshell: The thread that it asks for; none by default.
    """

    def __init__(self, kernel: Kernel, comm_id: str, subshell: str = "") -> None:
        """Send nothing yet."""
        self.kernel = kernel
        self.comm_id = comm_id
        self._subshell = subshell

    def send(self, content: Message) -> None:
        """Send a custom message."""
        client = self.kernel.client
        data = {"method": "custom", "content": content}
        message = client.session.msg("comm_msg", {"comm_id": self.comm_id, "data": data})
        if self._subshell:
            message["header"]["subshell_id"] = self._subshell
        client.shell_channel.send(message)

    def command(self, name: str, /, *, identity: str = "", **args: Any) -> str:
        """Send a command; give its id."""
        chosen = identity or uuid.uuid4().hex
        self.send({"kind": "command", "id": chosen, "name": name, "args": args})
        return chosen

    def answer(self, identity: str, timeout: float = PATIENCE) -> tuple[float, Message]:
        """Wait for a command's reply; give when it came, too."""
        came, message = self.kernel.find(
            lambda each: self._content(each).get("id") == identity, timeout=timeout
        )
        return came, self._content(message)

    def timed(self, name: str, /, **args: Any) -> tuple[float, Message]:
        """Send a command; give the seconds until its reply, and the reply."""
        began = perf_counter()
        came, reply = self.answer(self.command(name, **args))
        return came - began, reply

    def contents(self, kind: str = "") -> list[Message]:
        """Give what the page was sent so far."""
        found = [self._content(message) for _, message in list(self.kernel.messages)]
        return [each for each in found if each and (not kind or each["kind"] == kind)]

    def snapshot(self, fits: Callable[[Message], bool] = bool) -> Message:
        """Wait for a snapshot whose page fits."""
        _, message = self.kernel.find(
            lambda each: (
                self._content(each).get("kind") == "snapshot" and fits(self._content(each)["page"])
            )
        )
        page: Message = self._content(message)["page"]
        return page

    def _content(self, message: Message) -> Message:
        content = message["content"]
        if message["msg_type"] != "comm_msg" or content["comm_id"] != self.comm_id:
            return {}
        data = content["data"]
        found: Message = data["content"] if data.get("method") == "custom" else {}
        return found


@contextlib.contextmanager
def kernel(folder: Path, before: Path | None = None) -> Iterator[Kernel]:
    """Start a kernel for a test."""
    started = Kernel(folder, before)
    try:
        yield started
    finally:
        started.close()


def _environment(before: Path | None) -> dict[str, str]:
    if before is None:
        return dict(os.environ)
    path = filter(None, (str(before), os.environ.get("PYTHONPATH")))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def _parent(message: Message) -> str:
    return str(message["parent_header"].get("msg_id", ""))


def _is_idle(message: Message, cell: str) -> bool:
    status = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
    return status and _parent(message) == cell


FLOW = """
import asyncio, time
import dexnb as dex
from dexnb.examples.polling import PollingFlow
from dexnb.jobs import InProcessJobs, JobScript, JobState
jobs = InProcessJobs(JobScript.endless() if hasattr(JobScript, "endless") else JobScript())
lab = dex.lab(PollingFlow(jobs), "order-1", runtime="lab.db")
"""
