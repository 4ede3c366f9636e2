"""`Frame`: a function under reading, and the way from a call to the helper that it calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from dexnb.graph.paths import Paths, inside, walk_paths
from dexnb.graph.scope import UNKNOWN, Scope, attribute_of
from dexnb.graph.source import Tree, is_users, plain_function, read_source

MadeT = TypeVar("MadeT")
DEEPEST = 2
"""How many calls deep helpers are followed."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A function under reading.

    Args:
        tree: Its text.
        scope: The names it sees.
        paths: What it returns and assigns.
        depth: How many calls lie between it and the Step's method.
        arguments: What its parameters were given, each with the frame that the expression is of.
        outer: The frame of the function around it, for one defined inside.
        kept: What has been found out about its expressions, by who asked and what; goes with it.
    """

    tree: Tree
    scope: Scope
    paths: Paths
    depth: int = 0
    arguments: dict[str, tuple[ast.expr, Frame]] = field(default_factory=dict)
    outer: Frame | None = None
    kept: dict[tuple[Any, ...], Any] = field(default_factory=dict, repr=False)

    def follow(self, call: ast.Call) -> Frame | None:
        """Give the frame of a called helper, or None where it cannot or need not be read."""
        if self.depth >= DEEPEST:
            return None
        nested = self._nested(call.func)
        if nested is not None:
            tree, home = nested
            inner = Frame(tree, home.scope, _paths(tree), self.depth + 1, outer=home)
            inner.arguments.update(_bind(inner, call, self, skip=0))
            return inner
        callee, owner = self.callee(call.func)
        function = plain_function(callee)
        if function is None or not is_users(function):
            return None
        fixed = self.scope.fixed or not self._is_copied(call.func, callee, function, owner)
        frame = read_frame(function, owner, self.depth + 1, fixed=fixed)
        if frame is None:
            return None
        skip = 0 if owner is None else 1
        frame.arguments.update(_bind(frame, call, self, skip=skip))
        return frame

    def _nested(self, function: ast.expr) -> tuple[Tree, Frame] | None:
        frame: Frame | None = self
        while frame is not None and isinstance(function, ast.Name):
            if function.id in frame.paths.functions:
                return frame.paths.functions[function.id], frame
            frame = frame.outer
        return None

    def _is_copied(
        self, expression: ast.expr, callee: Any, function: FunctionType, owner: Any
    ) -> bool:
        """Tell whether a run gets its own copy of a helper, as the engine makes them.

        That are methods found on the Step itself, and functions of the caller's own module.
        """
        if owner is not None:
            return not _is_super(expression)
        same_module = function.__globals__ is self.scope.function.__globals__
        return same_module and isinstance(callee, FunctionType)

    def callee(self, function: ast.expr) -> tuple[Any, Any]:
        """Give what a callee expression stands for, and the instance it is bound to."""
        owner = self.scope.owner
        match function:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                return self._inherited(name), owner
            case ast.Attribute(value=base):
                bound = self.scope.look(base)
                found = self.scope.look(function)
                method = owner is not None and bound is owner and not _is_static(bound, function)
                return found, owner if method else None
            case _:
                return self.scope.look(function), None

    def _inherited(self, name: str) -> Any:
        """Give what `super()` would find: past the class that defines this function."""
        passed = False
        for each in type(self.scope.owner).__mro__:
            if passed and name in vars(each):
                return attribute_of(each, name)
            passed = passed or any(
                plain_function(value) is self.scope.function for value in vars(each).values()
            )
        return UNKNOWN

    def calls(self) -> Iterator[ast.Call]:
        """Give every call in this function, those of functions inside it too."""
        return iter(once(self.tree, "_dexnb_calls", _calls))


def read_frame(
    function: FunctionType, owner: Any = None, depth: int = 0, *, fixed: bool = False
) -> Frame | None:
    """Read a function; None where its source is not there.

    One that assigns globals is `fixed` in any case: its assignments are meant for everybody.
    """
    source = read_source(function)
    if source is None:
        return None
    fixed = fixed or any(isinstance(node, ast.Global) for node in ast.walk(source.tree))
    scope = Scope(function, owner, fixed=fixed)
    return Frame(source.tree, scope, _paths(source.tree), depth)


def file_of(frame: Frame) -> str:
    """Name a function's file without its folder; a cell has none, whatever its name says."""
    file = Path(frame.scope.function.__code__.co_filename)
    return file.name if file.is_file() else ""


def reachable(frame: Frame) -> Iterator[Frame]:
    """Give a frame and those of the helpers that it calls, each function once."""
    seen: set[Tree | FunctionType] = set()
    waiting = [frame]
    while waiting:
        current = waiting.pop(0)
        key = current.tree if current.outer is not None else current.scope.function
        if key in seen:
            continue
        seen.add(key)
        yield current
        found = (current.follow(call) for call in current.calls())
        waiting.extend(each for each in found if each is not None)


def once(tree: Tree, name: str, make: Callable[[Tree], MadeT]) -> MadeT:
    """Give what was made of a tree before: trees never change, and many ask for the same.

    Args:
        tree: The tree, which keeps it.
        name: Under what attribute.
        make: Makes it, the first time.
    """
    kept: dict[str, Any] = vars(tree)
    if name not in kept:
        kept[name] = make(tree)
    made: MadeT = kept[name]
    return made


def _calls(tree: Tree) -> tuple[ast.Call, ...]:
    parts = (part for statement in tree.body for part in inside(statement))
    return tuple(part for part in parts if isinstance(part, ast.Call))


def _paths(tree: Tree) -> Paths:
    return once(tree, "_dexnb_paths", walk_paths)


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """Give an argument by its name or its place, if it is given plainly."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position < len(call.args) and not isinstance(call.args[position], ast.Starred):
        return call.args[position]
    return None


def _is_super(expression: ast.expr) -> bool:
    match expression:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return True
        case _:
            return False


def _is_static(owner: Any, function: ast.Attribute) -> bool:
    for each in type(owner).__mro__:
        if function.attr in vars(each):
            return isinstance(vars(each)[function.attr], staticmethod)
    return False


def _bind(
    frame: Frame, call: ast.Call, caller: Frame, *, skip: int
) -> dict[str, tuple[ast.expr, Frame]]:
    """Match a call's arguments with parameters; what is not given has its default."""
    given = frame.tree.args
    parameters = [*given.posonlyargs, *given.args]
    names = [parameter.arg for parameter in parameters][skip:]
    bound: dict[str, tuple[ast.expr, Frame]] = {}
    if not any(isinstance(each, ast.Starred) for each in call.args):
        defaults = zip(reversed(parameters), reversed(given.defaults), strict=False)
        bound.update((parameter.arg, (default, frame)) for parameter, default in defaults)
    for parameter, only in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if only is not None:
            bound[parameter.arg] = (only, frame)
    for name, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        bound[name] = (argument, caller)
    for keyword in call.keywords:
        if keyword.arg is None:
            # It may give anything that is not given by its name.
            return {name: each for name, each in bound.items() if each[1] is not frame}
        bound[keyword.arg] = (keyword.value, caller)
    return bound
