"""What scaled and virtual loops share: they refuse the network and guard their thread."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from dexnb.clock.duration import shown
from dexnb.clock.guard import guard, install, running_task
from dexnb.clock.refusal import NETWORK_FIX, ClockRefusal

_ADDRESS_WORDS = ("host", "port", "path", "local_addr", "remote_addr", "address")


class ClockLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is not the host's.

    Sockets, pipes, processes and watched file descriptors answer in real time, so asking this loop
    for one raises `ClockRefusal`. Threads work as on any loop.
    """

    identity: str
    """The name under which a store keeps this loop's clock."""

    _thread: int | None = None
    """The thread that runs the loop, or None while none does."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        """Make the loop, and see to it that blocking calls can be refused."""
        install()
        super().__init__(selector)

    def wall_time(self) -> float:
        """Give this loop's own epoch seconds, for stamps."""
        raise NotImplementedError

    def run_forever(self) -> None:
        """Run until stopped, with blocking calls on this thread refused."""
        with guard(self.identity):
            previous, self._thread = self._thread, threading.get_ident()
            try:
                super().run_forever()
            finally:
                self._thread = previous

    def _refuse(self, call: str) -> NoReturn:
        raise ClockRefusal(f"loop.{call}", clock=self.identity, who=running_task(), fix=NETWORK_FIX)


def _refused(name: str, *, address: slice) -> Callable[..., NoReturn]:
    def refuse(self: ClockLoop, *args: Any, **kwargs: Any) -> NoReturn:
        where = [shown(arg) for arg in args[address]]
        where += [f"{word}={shown(kwargs[word])}" for word in _ADDRESS_WORDS if kwargs.get(word)]
        self._refuse(f"{name}({', '.join(where)})")

    refuse.__name__ = name
    refuse.__qualname__ = f"ClockLoop.{name}"
    refuse.__doc__ = f"Refuse `{name}`: it answers in real time."
    return refuse


# The slice picks the arguments that are an address; command lines may hold secrets, so of a
# command nothing but the program is shown.
_REFUSALS = {
    "create_connection": slice(1, 3),
    "create_server": slice(1, 3),
    "create_unix_connection": slice(1, 2),
    "create_unix_server": slice(1, 2),
    "create_datagram_endpoint": slice(1, 3),
    "connect_accepted_socket": slice(1, 2),
    "connect_read_pipe": slice(1, 2),
    "connect_write_pipe": slice(1, 2),
    "getaddrinfo": slice(0, 2),
    "getnameinfo": slice(0, 1),
    "sock_connect": slice(1, 2),
    "sock_accept": slice(0, 1),
    "sock_recv": slice(0, 1),
    "sock_recv_into": slice(0, 1),
    "sock_recvfrom": slice(0, 1),
    "sock_recvfrom_into": slice(0, 1),
    "sock_sendall": slice(0, 1),
    "sock_sendfile": slice(0, 1),
    "sock_sendto": slice(2, 3),
    "add_reader": slice(0, 1),
    "add_writer": slice(0, 1),
    "subprocess_exec": slice(1, 2),
    "subprocess_shell": slice(0, 0),
}
for _name, _address in _REFUSALS.items():
    setattr(ClockLoop, _name, _refused(_name, address=_address))
