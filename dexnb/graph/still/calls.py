"""Calls in a text: of its own functions, which are worked out, and of the few that may be made."""

from __future__ import annotations

import ast
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from dataclasses import replace
from datetime import timedelta
from enum import Enum
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from dexnb.flow.flow import Flow
from dexnb.flow.step import Step
from dexnb.graph.opaque import Opaque, OpaqueType, opaque_class
from dexnb.graph.redact import code_text
from dexnb.graph.source import written
from dexnb.graph.still.attributes import STAND_IN, Super, attribute, derives, is_stand_in
from dexnb.graph.still.bodies import hidden_bases
from dexnb.graph.still.expressions import items_of
from dexnb.graph.still.functions import Lambda
from dexnb.graph.still.names import Names, same
from dexnb.graph.still.trusted import is_maker, is_plain_call
from dexnb.graph.still.values import MOST_ITEMS, bounded, is_plain

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine

_TYPED = frozenset({"Attribute", "AttributeMap", "Channel", "ChannelMap", "Stream"})


class Calls:
    """Makes the calls that may be made."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def expression(self, node: ast.Call, names: Names) -> Any:
        """Give what a call gives; `Opaque` where that cannot be told."""
        callee = self.machine.value(node.func, names)
        if callee is super:
            return self._super(node, names)
        if callee is type and len(node.args) == 1 and not node.keywords:
            return self._type(self.machine.value(node.args[0], names))
        args, keywords, whole = self._arguments(node, names)
        if not whole and not is_maker(callee):
            return Opaque()
        return self.call(callee, args, keywords, names, node)

    def _arguments(self, node: ast.Call, names: Names) -> tuple[list[Any], dict[str, Any], bool]:
        """Give the arguments, and whether those are all."""
        args: list[Any] = []
        keywords: dict[str, Any] = {}
        whole = True
        for part in node.args:
            if isinstance(part, ast.Starred):
                many = items_of(self.machine.value(part.value, names))
                args += many or []
                if many is None:
                    whole = False
                    self._hidden("arguments behind a star", names, part)
            else:
                args.append(self.machine.value(part, names))
        for keyword in node.keywords:
            value = self.machine.value(keyword.value, names)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif type(value) is dict and all(type(key) is str for key in value):
                keywords.update(value)
            else:
                whole = False
                self._hidden("arguments behind two stars", names, keyword.value)
        return args, keywords, whole

    def call(
        self,
        callee: Any,
        args: list[Any],
        keywords: dict[str, Any],
        names: Names,
        node: ast.Call | None = None,
    ) -> Any:
        """Give what a call gives; `Opaque` where that cannot be told.

        Raises:
            DexnbError: A definition refuses what it is given.
        """
        if isinstance(callee, MethodType) and written_behind(callee) is not None:
            return self.call(callee.__func__, [callee.__self__, *args], keywords, names, node)
        if isinstance(callee, FunctionType) and written_behind(callee) is not None:
            return self._merged(self.outcomes(callee, args, keywords))
        if isinstance(callee, Lambda):
            return self._lambda(callee, args, keywords)
        if callee in _QUESTIONS:
            return self._question(callee, args, names)
        if is_stand_in(callee) and not issubclass(callee, Enum):
            return self.machine.instances.make(callee, args, keywords)
        if is_plain_call(callee) or type(getattr(callee, "__self__", None)) in _PLAIN_OWNERS:
            return _plain_call(callee, args, keywords)
        if is_stand_in(callee):
            return callee(*args) if all(map(is_plain, args)) and not keywords else Opaque()
        if callee is replace and args:
            known = {**keywords}
            return self._make(lambda *_, **given: replace(args[0], **given), [], known, names, node)
        if is_maker(callee):
            return self._maker(callee, args, keywords, names, node)
        return self.machine.records.called(callee, args, keywords)

    def _lambda(self, made: Lambda, args: list[Any], keywords: dict[str, Any]) -> Any:
        if self.machine.depth >= _DEEPEST:
            return Opaque()
        self.machine.depth += 1
        try:
            return self.machine.functions.run_lambda(made, args, keywords)
        finally:
            self.machine.depth -= 1

    def _question(self, callee: Any, args: list[Any], names: Names) -> Any:
        """Answer what Python's own questions ask, without asking the text's classes."""
        if callee is getattr and len(args) in (_PAIR, _PAIR + 1) and isinstance(args[1], str):
            return attribute(self.machine, args[0], args[1], names)
        if len(args) != _PAIR or isinstance(args[0], Opaque) or callee is getattr:
            return Opaque()
        kind = args[0] if callee is issubclass else type(args[0])
        wanted = args[1] if isinstance(args[1], tuple) else (args[1],)
        if any(not isinstance(each, type) or isinstance(each, OpaqueType) for each in wanted):
            return Opaque()
        return derives(kind, *wanted)

    def outcomes(
        self, function: FunctionType, args: list[Any], keywords: dict[str, Any]
    ) -> list[Any]:
        """Give all that a function of the text may return; a bare `Opaque` where it goes too deep.

        Nothing is given by one that always raises.
        """
        function = getattr(function, "__wrapped__", function)
        if written(function) is None or self.machine.depth >= _DEEPEST:
            return [Opaque()]
        self.machine.depth += 1
        try:
            return self.machine.functions.run(function, args, keywords)
        finally:
            self.machine.depth -= 1

    @staticmethod
    def _merged(found: list[Any]) -> Any:
        first, *rest = found or [Opaque()]
        return first if all(same(first, each) for each in rest) else Opaque()

    def _maker(
        self,
        callee: Any,
        args: list[Any],
        keywords: dict[str, Any],
        names: Names,
        node: ast.Call | None,
    ) -> Any:
        made = getattr(callee, "__name__", "")
        if made in _TYPED:
            args, keywords = _typed(args, keywords)
        return self._make(callee, args, keywords, names, node)

    def _make(
        self,
        callee: Any,
        args: list[Any],
        keywords: dict[str, Any],
        names: Names,
        node: ast.Call | None,
    ) -> Any:
        """Call a maker with what is known of its arguments; say what is left out."""
        kept = {}
        for name, value in keywords.items():
            known = self._known(value, name, names, _keyword(node, name))
            if not isinstance(known, Opaque):
                kept[name] = known
        given = []
        for position, value in enumerate(args):
            where = node.args[position] if node and position < len(node.args) else node
            known = self._known(value, "", names, where)
            if not isinstance(known, Opaque):
                given.append(known)
            elif position + 1 < len(args) and getattr(callee, "__name__", "") not in _MANY:
                return Opaque()
        try:
            return callee(*given, **kept)
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            return Opaque()

    def _known(self, value: Any, field: str, names: Names, node: Any) -> Any:
        if isinstance(value, Opaque):
            self._hidden(field or "an argument", names, node, field)
            return value
        strange = hidden_bases(type(value)) if is_stand_in(type(value)) else []
        if strange and not derives(type(value), Step, Flow):
            self._hidden(
                f"{type(value).__name__} has the base {strange[0]} and", names, node, field
            )
            return Opaque()
        if type(value) is tuple and any(isinstance(each, Opaque) for each in value):
            self._hidden(field or "an argument", names, node, field)
            return tuple(each for each in value if not isinstance(each, Opaque))
        return value

    def _hidden(self, what: str, names: Names, node: Any, field: str = "") -> None:
        if self.machine.about != ("", "") and node is not None:
            text = code_text(node) if isinstance(node, ast.expr) else ""
            message = f"{what} = {text}: only running the code could tell; name a constant"
            self.machine.note("cannot-tell", message, names, node, field)

    def _super(self, node: ast.Call, names: Names) -> Any:
        scope: Names | None = names
        while scope is not None and scope.kind != "function":
            scope = scope.outer
        if scope is None or scope.function is None or node.args or node.keywords:
            return Opaque()
        class_ = vars(scope.function).get(STAND_IN)
        code = scope.function.__code__
        owner = scope.values.get(code.co_varnames[0]) if code.co_argcount else None
        return Opaque() if class_ is None or owner is None else Super(class_, owner)

    @staticmethod
    def _type(value: Any) -> Any:
        if isinstance(value, Opaque):
            return Opaque(value.origin.removesuffix("()"))
        return type(value)


_DEEPEST = 12
_MOST_DIGITS = 30
_PAIR = 2
_QUESTIONS = (isinstance, issubclass, getattr)
_MANY = frozenset({"of", "other_steps", "without_start_step", "start_step"})
_PLAIN_OWNERS = frozenset({str, dict, list, tuple, timedelta})


def written_behind(function: Any) -> Any:
    """Give what is known of a function of the text; of one that answers for it too."""
    found = getattr(function, "__func__", function)
    found = getattr(found, "__wrapped__", found)
    return written(found) if isinstance(found, FunctionType) else None


def _plain_call(callee: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    owner = getattr(callee, "__self__", None)
    if callee is round and any(not -_MOST_DIGITS < each < _MOST_DIGITS for each in args[1:]):
        return Opaque()
    if callee is range:
        made = range(*args)
        return list(made) if len(made) <= MOST_ITEMS else Opaque()
    shallow = callee in _SHALLOW or type(owner) is dict
    if not shallow and not all(map(is_plain, (*args, *keywords.values()))):
        return Opaque()
    if shallow and any(isinstance(each, Opaque) for each in args):
        return Opaque()
    if callee in _COLLECTIONS and any(
        items_of(each) is None and type(each) is not str for each in args
    ):
        return Opaque()
    found = callee(*args, **keywords)
    return bounded(list(found) if isinstance(found, _PASSING) else found)


_COLLECTIONS = (list, tuple, set, frozenset, reversed, enumerate, zip, sum)
_SHALLOW = (list, tuple, dict, len, reversed, enumerate, zip)
_PASSING = (Iterator, KeysView, ValuesView, ItemsView)


def _keyword(node: ast.Call | None, name: str) -> Any:
    for keyword in node.keywords if node is not None else ():
        if keyword.arg == name:
            return keyword.value
    return node


def _typed(args: list[Any], keywords: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Let a class that is not known stand for the type of a definition."""
    given = [
        opaque_class(each.origin) if isinstance(each, Opaque) and place == 1 else each
        for place, each in enumerate(args)
    ]
    named = {
        name: opaque_class(value.origin)
        if name == "value_type" and isinstance(value, Opaque)
        else value
        for name, value in keywords.items()
    }
    return given, named
