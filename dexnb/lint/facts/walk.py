"""One walk through a Step's method and the helpers that it calls, in the order of the code."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dexnb.graph.frames import Frame
from dexnb.graph.source import Tree
from dexnb.lint.facts.following import follow, generates, read_as_call, threaded
from dexnb.lint.facts.kinds import kind_of
from dexnb.lint.facts.leaving import leaves
from dexnb.lint.facts.lost import is_lost
from dexnb.lint.facts.origin import last_of, origin_of, top_of
from dexnb.lint.facts.spots import Around, AroundKind, CallKind, CallSpot, LoopSpot, Spot, Trail

MOST_CALLS = 5_000
"""Calls in a method and its helpers after which it is given up: no code may stall the linter."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
WAITS_FOR = frozenset({"gather", "wait_for", "shield", "create_task", "ensure_future", "wait"})
"""Calls that run the coroutines that they are handed."""


class TooMuch(Exception):
    """A method makes more calls than are read; it is not judged, and that is said."""


@dataclass(slots=True)
class Spots:
    """All that a walk came upon.

    Args:
        calls: Calls.
        loops: Loops, outer ones first; a function that calls itself is one too.
        exits: `return`, `break`, `continue` and `raise`.
        tries: `try` statements.
        withs: `with` statements.
        assigns: Assignments to names and attributes.
    """

    calls: list[CallSpot] = field(default_factory=list)
    loops: list[LoopSpot] = field(default_factory=list)
    exits: list[Spot] = field(default_factory=list)
    tries: list[Spot] = field(default_factory=list)
    withs: list[Spot] = field(default_factory=list)
    assigns: list[Spot] = field(default_factory=list)


def walk(frame: Frame) -> Spots:
    """Walk a method."""
    walker = _Walker()
    walker.function(frame, ())
    return walker.spots


class _Walker:
    def __init__(self) -> None:
        self.spots = Spots()
        self._under_way: list[Tree] = []

    def function(self, frame: Frame, around: Trail) -> None:
        """Walk one function; one that is under way already calls itself and is not entered."""
        if _calls_itself(frame):
            around = self._loop(frame.tree, frame, around)
        self._under_way.append(frame.tree)
        self.block(frame.tree.body, frame, around)
        self._under_way.pop()

    def block(self, statements: Sequence[ast.stmt], frame: Frame, around: Trail) -> None:
        """Walk statements; behind an `if` that always leaves, its test has failed."""
        for statement in statements:
            self.statement(statement, frame, around)
            if isinstance(statement, ast.If) and not statement.orelse and leaves(statement.body):
                around = (*around, Around("guard", statement.test, frame, passed=False))

    def statement(self, node: ast.stmt, frame: Frame, around: Trail) -> None:
        """Walk one statement."""
        match node:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                self._parts(node, frame, around)
                self.spots.exits.append(Spot(node, frame, around))
            case ast.If(test=test, body=body, orelse=orelse):
                self._inside(test, frame, around)
                self.block(body, frame, (*around, Around("guard", test, frame)))
                self.block(orelse, frame, (*around, Around("guard", test, frame, passed=False)))
            case ast.While() | ast.For() | ast.AsyncFor():
                self._looped(node, frame, around)
            case _:
                self._other(node, frame, around)

    def _other(self, node: ast.stmt, frame: Frame, around: Trail) -> None:
        match node:
            case ast.Try() | ast.TryStar():
                self._try(node, frame, around)
            case ast.With() | ast.AsyncWith():
                self._with(node, frame, around)
            case ast.Match(subject=subject, cases=cases):
                self._inside(subject, frame, around)
                asked = Around("guard", subject, frame)
                for case in cases:
                    inner = (*around, asked, Around("guard", case, frame))
                    self.block(case.body, frame, inner)
            case ast.Expr(value=value):
                self._inside(value, frame, around, dropped=True)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case _:
                self._parts(node, frame, around)
                if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                    self.spots.assigns.append(Spot(node, frame, around))

    def _looped(
        self, node: ast.While | ast.For | ast.AsyncFor, frame: Frame, around: Trail
    ) -> None:
        inner = self._loop(node, frame, around)
        if isinstance(node, ast.While):
            self._inside(node.test, frame, inner)
        else:
            # Each round goes on with the body of a generator.
            self._inside(node.iter, frame, inner if generates(node.iter, frame) else around)
        self.block(node.body, frame, inner)
        self.block(node.orelse, frame, around)

    def _loop(self, node: ast.AST, frame: Frame, around: Trail) -> Trail:
        mark = Around("loop", node, frame)
        self.spots.loops.append(LoopSpot(node, frame, around, mark))
        return (*around, mark)

    def _try(self, node: ast.Try | ast.TryStar, frame: Frame, around: Trail) -> None:
        self.spots.tries.append(Spot(node, frame, around))
        self.block(node.body, frame, (*around, Around("try", node, frame)))
        for handler in node.handlers:
            self.block(handler.body, frame, (*around, Around("handler", handler, frame)))
        self.block(node.orelse, frame, around)
        self.block(node.finalbody, frame, (*around, Around("finally", node, frame)))

    def _with(self, node: ast.With | ast.AsyncWith, frame: Frame, around: Trail) -> None:
        self.spots.withs.append(Spot(node, frame, around))
        awaited = isinstance(node, ast.AsyncWith)
        for item in node.items:
            self._inside(item.context_expr, frame, around, awaited=awaited)
        self.block(node.body, frame, (*around, Around("with", node, frame)))

    def _parts(self, node: ast.AST, frame: Frame, around: Trail) -> None:
        for child in ast.iter_child_nodes(node):
            self._inside(child, frame, around)

    def _inside(
        self,
        node: ast.AST,
        frame: Frame,
        around: Trail,
        *,
        awaited: bool = False,
        dropped: bool = False,
    ) -> None:
        """Walk an expression, inner calls first."""
        if isinstance(node, _SCOPES):
            return
        if len(self.spots.calls) > MOST_CALLS:
            raise TooMuch
        if isinstance(node, ast.Await):
            self._awaited(node.value, frame, around)
            self._inside(node.value, frame, around, awaited=True, dropped=dropped)
        elif isinstance(node, ast.Call):
            self._call(node, frame, around, awaited=awaited, dropped=dropped)
        elif isinstance(node, ast.Attribute) and (read := read_as_call(node, frame)) is not None:
            self._inside(node.value, frame, around)
            self._reach(read, read, "", Spot(read, frame, around), False, False)  # noqa: FBT003
        else:
            self._parts(node, frame, around)

    def _awaited(self, node: ast.expr, frame: Frame, around: Trail) -> None:
        """Move a call to where a helper awaits it that was handed its coroutine."""
        given, caller = node, frame
        while isinstance(given, ast.Name) and given.id in caller.arguments:
            given, caller = caller.arguments[given.id]
        if given is not node:
            for at, spot in enumerate(self.spots.calls):
                if spot.node is given and not spot.awaited:
                    self.spots.calls[at] = replace(spot, around=around, awaited=True)

    def _call(
        self, node: ast.Call, frame: Frame, around: Trail, *, awaited: bool, dropped: bool
    ) -> None:
        self._inside(node.func, frame, around)
        origin = origin_of(node.func, frame)
        combines = last_of(origin) in WAITS_FOR and top_of(origin) in ("asyncio", "anyio")
        inner = around
        if combines:
            kind: AroundKind = "bound" if last_of(origin) == "wait_for" else "task"
            inner = (*around, Around(kind, node, frame))
        for child in (*node.args, *(keyword.value for keyword in node.keywords)):
            self._inside(child, frame, inner, awaited=combines)
        made = threaded(node, frame)
        if made is not None:
            around = (*around, Around("thread", node, frame))
            origin = origin_of(made.func, frame)
        self._reach(node, made or node, origin, Spot(node, frame, around), awaited, dropped)

    def _reach(
        self,
        node: ast.Call,
        call: ast.Call,
        origin: str,
        spot: Spot,
        awaited: bool,  # noqa: FBT001 - passed through as they are
        dropped: bool,  # noqa: FBT001
    ) -> None:
        frame, around = spot.frame, spot.around
        helper = follow(call, frame)
        kind = kind_of(call, frame, origin, helper)
        if not {"task", "bound", "thread"} & {each.kind for each in around} and is_lost(
            spot, kind, origin, awaited=awaited, dropped=dropped
        ):
            kind = CallKind.OWN
        self.spots.calls.append(CallSpot(node, frame, around, call, kind, origin, awaited, dropped))
        if kind is CallKind.FOLLOWED and helper is not None and not self._is_under_way(helper):
            self.function(helper, (*around, Around("call", node, frame)))

    def _is_under_way(self, helper: Frame) -> bool:
        return helper.tree in self._under_way


def _calls_itself(frame: Frame) -> bool:
    return any(
        isinstance(node.func, ast.Name | ast.Attribute) and _names(node.func, frame)
        for node in frame.calls()
    )


def _names(function: ast.Name | ast.Attribute, frame: Frame) -> bool:
    name = function.id if isinstance(function, ast.Name) else function.attr
    if name != frame.tree.name:
        return False
    callee, _ = frame.callee(function)
    return callee is frame.scope.function
