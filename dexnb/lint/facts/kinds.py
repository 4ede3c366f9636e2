"""What a call is to the rules: a pause, a beat, foreign code, or nothing of the kind."""

from __future__ import annotations

import ast
import builtins
import sys

from dexnb.flow.stream import Stream
from dexnb.graph.alternatives import Alternatives
from dexnb.graph.frames import Frame
from dexnb.graph.scope import UNKNOWN
from dexnb.lint.facts.bindings import bindings_of, dotted
from dexnb.lint.facts.following import is_hidden
from dexnb.lint.facts.making import is_making
from dexnb.lint.facts.origin import last_of, origin_of, top_of
from dexnb.lint.facts.spots import CallKind
from dexnb.lint.facts.words import words

PAUSES = frozenset(
    {
        ("asyncio", "sleep"),
        ("anyio", "sleep"),
        ("trio", "sleep"),
        ("time", "sleep"),
        ("gevent", "sleep"),
        ("eventlet", "sleep"),
        ("dexnb", "sleep_blocking"),
    }
)
OUTSIDE = words("""
    dbm ftplib http imaplib poplib smtplib socket sqlite3 ssl subprocess urllib xmlrpc
""")
"""Parts of the standard library that ask somebody outside of the process."""

DEEPEST = 4
"""How many names or calls lie at most between an object and where it comes from."""

Via = tuple[tuple[ast.AST, str], ...]
"""The names that a question has come by, each with its function."""

_LOGS = frozenset({"log", "logger", "logging", "_log", "_logger", "structlog", "loguru"})
_LOGGED = words("bind critical debug error exception info log msg opt warn warning")
_BARS = frozenset({"alive_progress", "progressbar", "rich", "tqdm"})
_COMPUTES = words("jax keras numpy scipy sklearn sympy tensorflow torch xgboost")
"""Packages that compute in the process, and ask nobody."""
_INSIDE = _LOGS | _BARS | _COMPUTES
_STDLIB = sys.stdlib_module_names - OUTSIDE - {"__main__"}


def kind_of(call: ast.Call, frame: Frame, origin: str, helper: Frame | None) -> CallKind:
    """Tell what a call is.

    Args:
        call: It.
        frame: The function that it is of.
        origin: The dotted name of what is called, empty where it is not known.
        helper: What is called, where it can be read.
    """
    if (top_of(origin), last_of(origin)) in PAUSES or _waits_a_while(call, origin):
        return CallKind.PAUSE
    if _beats(call, frame, origin):
        return CallKind.BEAT
    if _writes(call, frame):
        return CallKind.WRITE
    if helper is not None:
        return CallKind.FOLLOWED
    if is_hidden(call, frame) or _is_nowhere(call.func, frame, origin):
        return CallKind.HIDDEN
    return CallKind.FOREIGN if _is_foreign(call.func, frame, origin) else CallKind.OWN


def _waits_a_while(call: ast.Call, origin: str) -> bool:
    """Tell the wait for an event with a time limit, which is how a pause is made breakable."""
    if top_of(origin) in ("threading", "multiprocessing") and last_of(origin) == "wait":
        return bool(call.args or call.keywords)
    if (top_of(origin), last_of(origin)) != ("asyncio", "wait_for") or not call.args:
        return False
    match call.args[0]:
        case ast.Call(func=ast.Attribute(attr="wait"), args=[]):
            return True
        case _:
            return False


def _beats(call: ast.Call, frame: Frame, origin: str) -> bool:
    if top_of(origin) == "dexnb" and last_of(origin) == "heartbeat":
        return True
    match _meant(call.func, frame):
        case ast.Attribute(value=base, attr="heartbeat"), home:
            known = top_of(origin_of(base, home))
            return not known or known == "dexnb" or is_context(base, home)
        case _:
            return False


def _meant(function: ast.expr, frame: Frame) -> tuple[ast.expr, Frame]:
    """Give what a name stands for that holds a bound method: `beat = context.heartbeat`."""
    for _ in range(DEEPEST):
        if not isinstance(function, ast.Name):
            break
        bound = bindings_of(frame).of(function.id)
        if bound:
            function = bound[0].value
        elif function.id in frame.arguments:
            function, frame = frame.arguments[function.id]
        else:
            break
    return function, frame


def _writes(call: ast.Call, frame: Frame) -> bool:
    match call.func:
        case ast.Attribute(value=base, attr="write"):
            leaves = list(Alternatives().of(base, frame))
            if any(isinstance(leaf.value, Stream) for leaf in leaves):
                return True
            known = any(leaf.value is not UNKNOWN for leaf in leaves)
            if not known and call.args and is_context(call.args[0], frame):
                return True
            return any(_buffers(leaf.expression) for leaf in leaves)
        case _:
            return False


def _buffers(made: ast.expr) -> bool:
    match made:
        case ast.Call(func=ast.Attribute(attr="buffered_text")):
            return True
        case _:
            return False


def is_context(expression: ast.expr, frame: Frame) -> bool:
    """Tell the context that the Step's method got, also where it was handed to a helper."""
    for _ in range(DEEPEST):
        if not isinstance(expression, ast.Name):
            return False
        if expression.id in frame.arguments:
            expression, frame = frame.arguments[expression.id]
            continue
        return frame.depth == 0 and expression.id == parameter(frame, 1)
    return False


def parameter(frame: Frame, at: int) -> str:
    """Name a parameter of a Step's method by its place; `self` is at 0."""
    names = [each.arg for each in (*frame.tree.args.posonlyargs, *frame.tree.args.args)]
    return names[at] if at < len(names) else ""


def parameters(frame: Frame) -> frozenset[str]:
    """Name all parameters of a function."""
    return frozenset(each.arg for each in ast.walk(frame.tree.args) if isinstance(each, ast.arg))


def _is_foreign(function: ast.expr, frame: Frame, origin: str, via: Via = ()) -> bool:
    top = top_of(origin)
    if origin:
        if top == "dexnb":
            return origin.startswith(("dexnb.jobs", "dexnb.examples"))
        if top in _STDLIB or top == "builtins" or top in _INSIDE:
            return False
        if top in OUTSIDE:
            return not is_making(origin)
    if isinstance(function, ast.Name):
        given = bool(origin) or function.id in frame.scope.locals
        return given and not hasattr(builtins, function.id) and not is_making(origin)
    return _is_root_foreign(function, frame, origin, via) and not is_making(origin)


def _is_nowhere(function: ast.expr, frame: Frame, origin: str) -> bool:
    """Tell a name that no text gives: from `import *`, `%run`, or a definition under an `if`."""
    if origin or not isinstance(function, ast.Name) or hasattr(builtins, function.id):
        return False
    name, home = function.id, frame
    while True:
        if name in home.arguments or name in home.paths.functions or name in parameters(home):
            return False
        if bindings_of(home).of(name) or home.outer is None:
            break
        home = home.outer
    bound = bindings_of(home).of(name) or name in home.scope.locals
    return not bound and home.scope.look(function) is UNKNOWN


def _makes_foreign(origin: str) -> bool:
    """Tell the call of a class that is neither Python's nor dexnb's."""
    top = top_of(origin)
    own = top in _STDLIB or top in _INSIDE or top in ("builtins", "dexnb")
    return bool(top) and not own and is_making(origin)


def _is_root_foreign(function: ast.expr, frame: Frame, origin: str, via: Via) -> bool:
    """Tell whether a method is of an object that foreign code has given."""
    root = function
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call | ast.Await):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name):
        return False
    named = dotted(function).split(".")
    if any(part in _LOGS for part in named) and (not origin or named[-1] in _LOGGED):
        return False
    if root.id == parameter(frame, 1) and frame.depth == 0:
        return False  # the context
    if root.id == parameter(frame, 2) and frame.depth == 0:
        return False  # the input is data
    return _gives_foreign(root, frame, via)


def _gives_foreign(root: ast.Name, frame: Frame, via: Via) -> bool:
    bound = [each for each in bindings_of(frame).of(root.id) if not each.effect]
    here = (frame.tree, root.id)
    if here in via:
        return False  # made of itself, as in `q = q.next()`: the other bindings tell
    if len(via) > DEEPEST:
        return True
    if bound:
        return any(_from_foreign(each.value, frame, (*via, here)) for each in bound)
    if root.id in frame.arguments:
        expression, caller = frame.arguments[root.id]
        return _from_foreign(expression, caller, (*via, here))
    return True


def _from_foreign(value: ast.expr, frame: Frame, via: Via) -> bool:
    """Tell whether an expression gives what foreign code made; plain data is nobody's."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            origin = origin_of(node.func, frame)
            if len(via) > DEEPEST or _makes_foreign(origin):
                return True
            if _is_foreign(node.func, frame, origin, via):
                return True
        if isinstance(node, ast.Attribute) and dotted(node).startswith("self."):
            return True
        if isinstance(node, ast.Name) and _is_client(node, frame):
            return True
        if isinstance(node, ast.Name) and node.id in frame.arguments:
            expression, caller = frame.arguments[node.id]
            here = (frame.tree, node.id)
            known = here in via or len(via) > DEEPEST
            if not known and _from_foreign(expression, caller, (*via, here)):
                return True
    return False


def _is_client(name: ast.Name, frame: Frame) -> bool:
    """Tell a variable that holds what a foreign class has made."""
    origin = origin_of(name, frame) if bindings_of(frame).of(name.id) else ""
    return origin.endswith("()") and _makes_foreign(origin.removesuffix("()"))
