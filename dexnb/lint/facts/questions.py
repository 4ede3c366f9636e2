"""Which calls ask for a state, by their names: those that take the next of something do not."""

from __future__ import annotations

import ast

from dexnb.lint.facts.bindings import dotted
from dexnb.lint.facts.origin import last_of
from dexnb.lint.facts.spots import CallKind, CallSpot
from dexnb.lint.facts.words import split, words

TAKES = words("""
    accept acquire anext blpop brpop consume dequeue fetchmany fetchone get_message get_nowait
    join listen next pop popleft read readexactly readline readlines readuntil receive recv
    recv_bytes recv_from recv_json recv_string recvfrom subscribe take wait xread
""")
"""Calls that take the next of something, or wait for it themselves."""

LOCAL = words("""
    at_eof cancelled closed empty eof exists flock full has_items has_more has_next is_alive
    is_closed is_closing is_dir is_empty is_file is_set isatty locked lockf more qsize
    try_lock trylock
""")
"""Questions that an object in the process answers, and tries to take a lock."""

MAKES = words("begin client connect cursor pipeline resource session")
"""Calls that make what asks later; they ask nothing themselves."""

TAKES_NEXT = words("dequeue get_nowait next pop popleft receive recv")
"""Calls that take an item out of what they are a method of."""

_FAR = words("exists has_items has_more is_dir is_empty is_file")
_STATES = words("health phase progress snapshot stage state status")
_NEXT = ("dequeue_", "next_", "pop_", "receive_", "recv_", "take_")
_MADE_UP = words("choice generate random sample shuffle")
_SIZES = words("bytes chunk count limit n size")


def may_ask(spot: CallSpot) -> bool:
    """Tell whether a call may be a question for a state."""
    name = last_of(spot.origin) or method_of(spot.call)
    if name == "read" and any(not _is_size(each) for each in spot.call.args):
        return True
    if name == "lock" and spot.dropped:
        return False
    parts = split(name)
    if parts & _MADE_UP or (name.startswith(_NEXT) and not parts & _STATES):
        return False
    return name not in TAKES and name not in LOCAL and name not in MAKES


def may_ask_alone(spot: CallSpot) -> bool:
    """Tell a question that an object in the process answers, asked of a foreign client.

    Only where nothing else happens in a round: `while queue.has_more(): take(queue)` is none.
    """
    name = last_of(spot.origin) or method_of(spot.call)
    client = spot.origin.rpartition(".")[0]
    return spot.kind is CallKind.FOREIGN and name in _FAR and bool(client)


def method_of(call: ast.Call) -> str:
    """Give the last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _is_size(argument: ast.expr) -> bool:
    """Tell how much a stream is to give, from what a client is asked for."""
    if isinstance(argument, ast.Constant):
        return not isinstance(argument.value, str)
    return bool(split(dotted(argument)) & _SIZES)
