"""What turns do with RPCs: locks that are tried once, and the changes of those that have run."""

from __future__ import annotations

from typing import Any

from dexnb.engine.ledger import Ledger
from dexnb.engine.moving import cancel, close_if_done, schedule
from dexnb.model.message import RpcBegin, RpcDone, RpcExpired, RpcVisit

RPC = "sys:rpc"
"""What stands for the origin of a Step that an RPC has started."""

CHANGED = "changed: the run went on while it ran"


def begin(ledger: Ledger, message: RpcBegin) -> None:
    """Give an RPC its locks, or refuse it: it never waits for them."""
    state, request_id = ledger.state, message.request_id
    if message.renews:
        _renew(ledger, message)
        return
    if request_id in state.requests or request_id in state.locks.values():
        return
    if taken := sorted(name for name in message.locks if name in state.locks):
        _refuse(ledger, request_id, f"locked: {', '.join(taken)}")
        return
    ledger.emit("rpc_started", request_id=request_id, locks=message.locks)
    _expire_later(ledger, message)


def _renew(ledger: Ledger, message: RpcBegin) -> None:
    """Let an RPC hold its locks for longer, if it still has them."""
    state, request_id, until = ledger.state, message.request_id, message.until
    if request_id not in state.locks.values() or until <= state.rpc_until.get(request_id, 0.0):
        return
    ledger.emit("rpc_started", request_id=request_id, locks=[], until=until)
    _expire_later(ledger, message)


def _expire_later(ledger: Ledger, message: RpcBegin) -> None:
    expired = RpcExpired(message.request_id, until=message.until)
    ledger.tell(expired, delay=max(0.0, message.until - ledger.now))


def done(ledger: Ledger, message: RpcDone) -> None:
    """Apply what an RPC changed, once; not if its locks are gone or it saw an older state."""
    state, request_id = ledger.state, message.request_id
    if request_id in state.requests:
        return
    if message.locked and request_id not in state.locks.values():
        _refuse(ledger, request_id, RpcExpired(request_id).reason)
        return
    if message.version is not None and message.version != state.events:
        _refuse(ledger, request_id, CHANGED)
        return
    writes: dict[str, Any] = {"writes": message.writes} if message.writes else {}
    ledger.emit("rpc_completed", request_id=request_id, name=message.name, **writes)
    cancel(ledger, message.canceling_steps)
    for movement in message.movements:
        schedule(ledger, movement, RPC)
    close_if_done(ledger)


def miss(ledger: Ledger, message: RpcVisit) -> None:
    """Refuse an RPC that could not be let in: a visit that was made has left its changes."""
    if message.request_id not in ledger.state.requests:
        _refuse(ledger, message.request_id, CHANGED)


def expire(ledger: Ledger, message: RpcExpired) -> None:
    """End the locks of an RPC that writes nothing; not those that were renewed meanwhile."""
    state, request_id = ledger.state, message.request_id
    if message.until and message.until < state.rpc_until.get(request_id, 0.0):
        return
    if request_id in state.locks.values():
        _refuse(ledger, message.request_id, message.reason)


def _refuse(ledger: Ledger, request_id: str, reason: str) -> None:
    ledger.emit("rpc_refused", request_id=request_id, reason=reason)
