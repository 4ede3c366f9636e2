"""Functions of a text: objects that know their text and cannot run, and what they would return."""

from __future__ import annotations

import ast
import inspect
from abc import abstractmethod
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dexnb.errors import DexnbError
from dexnb.graph.opaque import Opaque
from dexnb.graph.source import STILL, Tree, Written, plain_function, written
from dexnb.graph.still.decorators import hands_on, is_wrapping, passes_on
from dexnb.graph.still.names import Missing, Names
from dexnb.graph.still.trusted import is_maker
from dexnb.graph.still.unit import first_line

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

_WRAPPERS = (staticmethod, classmethod, property)
_RUNS_LATER = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_OF_PROPERTIES = ("setter", "deleter", "getter")


@dataclass(frozen=True, slots=True, eq=False)
class Body(Written):
    """A function of the text.

    Args:
        names: The names that it sees.
        left_out: Its decorators that may change what it does, and that are not followed.
    """

    names: Names
    left_out: list[ast.expr] = field(default_factory=list)


class Lambda:
    """A lambda of the text, which can be worked out and not called."""

    def __init__(self, node: ast.Lambda, names: Names) -> None:
        """Keep what it says."""
        self.node = node
        self.names = names

    def __call__(self, *_args: Any, **_given: Any) -> Any:
        """Refuse to run."""
        raise TypeError("a lambda of a text that is only read cannot run")


class Functions:
    """Makes functions, and works out what a call of one would return."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def make(self, tree: Tree, names: Names) -> Any:
        """Give what a definition's name stands for; what a decorator gives, where that is plain."""
        unit = names.unit
        code = unit.codes.get((first_line(tree), tree.name))
        if code is None:
            return Opaque()
        closure = tuple(names.cell(name) for name in code.co_freevars)
        made = FunctionType(code, names.module.namespace, tree.name, None, closure)
        made.__qualname__ = f"{names.qualname}.{tree.name}".lstrip(".")
        vars(made)[STILL] = Body(tree, unit.path, unit.cell, unit.lines, names)
        self._defaults(made, tree, names)
        found: Any = made
        for decorator in reversed(tree.decorator_list):
            found = self._decorated(found, decorator, names)
        return found

    def _defaults(self, made: FunctionType, tree: Tree, names: Names) -> None:
        given = [self.machine.value(each, names) for each in tree.args.defaults]
        made.__defaults__ = tuple(given) or None
        named = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
        made.__kwdefaults__ = {
            parameter.arg: self.machine.value(default, names)
            for parameter, default in named
            if default is not None
        } or None

    def _decorated(self, found: Any, decorator: ast.expr, names: Names) -> Any:
        if isinstance(decorator, ast.Attribute) and decorator.attr in _OF_PROPERTIES:
            try:
                return names.get(getattr(found, "__name__", ""))
            except Missing:
                return found
        value = self.machine.value(decorator, names)
        if value in _WRAPPERS:
            return value(found)
        if value is abstractmethod:
            found.__isabstractmethod__ = True
        elif is_maker(value):
            try:
                return value(found)
            except DexnbError as error:
                self.machine.note("definition", str(error), names, decorator)
        elif not hands_on(value):
            return self._followed(found, value, decorator, names)
        return found

    def _followed(self, found: Any, decorator: Any, node: ast.expr, names: Names) -> Any:
        """Give what a decorator of the text puts in a function's place.

        What stands behind `wraps` is read instead of what is around it, as in a Flow that is alive.
        """
        function = plain_function(found)
        body = None if function is None else written(function)
        if function is None or not isinstance(body, Body):
            return found
        given: Any = None
        if isinstance(decorator, FunctionType) and written(decorator) is not None:
            given = self.machine.calls.call(decorator, [found], {}, names)
        if given is found:
            return found
        if isinstance(given, FunctionType) and written(given) is not None:
            if not is_wrapping(given):
                return given
            if passes_on(given, function):
                return found
        body.left_out.append(node)
        return found

    def annotate(self, function: Any) -> None:
        """Give a function its annotations, once all names are there."""
        function = getattr(function, "__func__", function)
        body = written(function) if isinstance(function, FunctionType) else None
        if not isinstance(body, Body) or function.__annotations__:
            return
        arguments = body.tree.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        noted = {each.arg: each.annotation for each in every if each.annotation is not None}
        if body.tree.returns is not None:
            noted["return"] = body.tree.returns
        function.__annotations__ = {
            name: self.machine.annotations.type(node, body.names) for name, node in noted.items()
        }

    def run(self, function: FunctionType, args: list[Any], keywords: dict[str, Any]) -> list[Any]:
        """Give all that a call may return; nothing where it always raises."""
        body = written(function)
        if not isinstance(body, Body):
            return [Opaque()]
        if function.__code__.co_flags & _RUNS_LATER:
            return [Opaque()]
        around = body.names
        around.module.made.add(id(function))
        qualname = f"{function.__qualname__}.<locals>"
        names = Names({}, "function", around.module, around.unit, around, qualname)
        names.function = function
        plain = [*body.tree.args.posonlyargs, *body.tree.args.args]
        defaults = function.__defaults__ or ()
        for parameter, default in zip(plain[len(plain) - len(defaults) :], defaults, strict=True):
            names.values[parameter.arg] = default
        names.values.update(function.__kwdefaults__ or {})
        self._bind(body.tree.args, names, args, keywords)
        left = self.machine.statements.run(body.tree.body, names)
        if not left:
            names.returns.append(None)
        return names.returns

    def run_lambda(self, made: Lambda, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Give what a call of a lambda would return."""
        around = made.names
        names = Names({}, "function", around.module, around.unit, around, around.qualname)
        arguments = made.node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        last = plain[len(plain) - len(arguments.defaults) :]
        for parameter, default in zip(last, arguments.defaults, strict=True):
            names.values[parameter.arg] = self.machine.value(default, around)
        self._bind(arguments, names, args, keywords)
        return self.machine.value(made.node.body, names)

    def _bind(
        self, arguments: ast.arguments, names: Names, args: list[Any], keywords: dict[str, Any]
    ) -> None:
        plain = [*arguments.posonlyargs, *arguments.args]
        for parameter, value in zip(plain, args, strict=False):
            names.values[parameter.arg] = value
        known = {each.arg for each in (*plain, *arguments.kwonlyargs)}
        names.values.update({name: each for name, each in keywords.items() if name in known})
        for parameter in (*plain, *arguments.kwonlyargs):
            if parameter.arg not in names.values:
                names.values[parameter.arg] = self._unknown(parameter, names)
        if arguments.vararg is not None:
            names.values[arguments.vararg.arg] = tuple(args[len(plain) :])
        if arguments.kwarg is not None:
            rest = {name: each for name, each in keywords.items() if name not in known}
            names.values[arguments.kwarg.arg] = rest

    def _unknown(self, parameter: ast.arg, names: Names) -> Opaque:
        """Give a parameter that nobody gives: its annotation says what it is an instance of."""
        if parameter.annotation is None or isinstance(parameter.annotation, ast.Constant):
            return Opaque()
        found = self.machine.value(parameter.annotation, names)
        return found.called() if isinstance(found, Opaque) else Opaque()
