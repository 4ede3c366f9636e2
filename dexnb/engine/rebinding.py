"""Copies of a Step's functions over globals of one attempt's own.

A function keeps its code, defaults and closure; the globals of the copy hold the values that the
run overrides and hand everything else on to the module, so that other runs see nothing of it and
what is redefined later is seen as ever. Helpers of the Step's module that it calls are copied too.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

MOST_FUNCTIONS = 100
"""Functions copied for one Step at most; what lies behind them keeps the module's values."""

_KEPT = (
    "__name__",
    "__builtins__",
    "__package__",
    "__spec__",
    "__file__",
    "__loader__",
    "__doc__",
)


class RunGlobals(dict[str, Any]):
    """Globals of one attempt: its own values first, then the module's as they are by then.

    What a function looks up goes through `__missing__`, because these globals are no plain dict.
    """

    __slots__ = ("_module",)

    def __init__(self, module: dict[str, Any]) -> None:
        """Hand on to this module's globals."""
        super().__init__((name, module[name]) for name in _KEPT if name in module)
        self._module = module

    def __missing__(self, name: str) -> Any:
        """Give the module's value."""
        return self._module[name]

    def put(self, name: str, number: float | None) -> bool:
        """Give a constant a value of its own, or None for the module's; tell whether it is one."""
        current = self._module.get(name)
        if not is_constant(current):
            return False
        if number is None:
            self.pop(name, None)
        else:
            self[name] = alike(number, current)
        return True

    def __contains__(self, name: object) -> bool:
        """Look in both, for code that asks `globals()`."""
        return super().__contains__(name) or name in self._module

    def get(self, name: str, default: Any = None) -> Any:
        """Look in both, for code that asks `globals()`."""
        try:
            return self[name]
        except KeyError:
            return default


def is_constant(value: Any) -> bool:
    """Tell what a knob can turn: a number or a duration."""
    return isinstance(value, int | float | timedelta) and not isinstance(value, bool)


def alike(number: float, current: Any) -> Any:
    """Give a knob's number in the form that the code has: a duration, a whole number or a float."""
    if isinstance(current, timedelta):
        return timedelta(seconds=number)
    if isinstance(current, int) and number == int(number):
        return int(number)
    return float(number)


class Rebinder:
    """Copies functions, each once, so that copies call copies.

    Args:
        modules: The globals dictionaries whose functions are copied.
    """

    def __init__(self, *modules: dict[str, Any]) -> None:
        """Start with no copy."""
        self._modules = {id(module): module for module in modules}
        self._globals: dict[int, RunGlobals] = {}
        self._constants: dict[str, list[tuple[CellType, CellType]]] = {}
        self._cells: dict[int, CellType] = {}
        self._done: dict[int, FunctionType] = {}

    def function(self, function: FunctionType) -> FunctionType:
        """Give the copy of a function, or itself where it must not be copied."""
        found = self._done.get(id(function))
        if found is not None:
            return found
        if len(self._done) >= MOST_FUNCTIONS or _writes_globals(function.__code__):
            return function
        copy = FunctionType(
            function.__code__,
            self._globals_of(function.__globals__),
            function.__name__,
            function.__defaults__,
            self._closure(function),
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__qualname__ = function.__qualname__
        copy.__dict__.update(function.__dict__)
        self._done[id(function)] = copy
        self._fill(function)
        self._helpers(function)
        return copy

    def member(self, member: Any) -> Any:
        """Give the copy of what a class holds: a method, a property and so on."""
        match member:
            case FunctionType():
                return self.function(member)
            case staticmethod():
                return staticmethod(self._inner(member.__func__))
            case classmethod():
                return classmethod(self._inner(member.__func__))
            case property():
                return property(*map(self._inner, (member.fget, member.fset, member.fdel)))
            case _:
                return member

    def put(self, name: str, number: float | None) -> bool:
        """Give a constant another value in all copies, or with None the code's own again.

        Tells whether any of the copies can see it.
        """
        seen = False
        for globals_ in self._globals.values():
            seen = globals_.put(name, number) or seen
        for own, original in self._constants.get(name, ()):
            value = original.cell_contents
            own.cell_contents = value if number is None else alike(number, value)
            seen = True
        return seen

    @property
    def reads_constants(self) -> bool:
        """Whether anything that was copied reads what a knob can turn."""
        return bool(self._constants) or any(
            is_constant(copy.__globals__.get(name))
            for copy in self._done.values()
            for name in names_of(copy.__code__)
        )

    def _inner(self, function: Any) -> Any:
        return self.function(function) if isinstance(function, FunctionType) else function

    def _globals_of(self, module: dict[str, Any]) -> RunGlobals:
        found = self._globals.get(id(module))
        if found is None:
            found = self._globals[id(module)] = RunGlobals(module)
        return found

    def _closure(self, function: FunctionType) -> tuple[CellType, ...] | None:
        if function.__closure__ is None:
            return None
        names = function.__code__.co_freevars
        written = _written_cells(function.__code__)
        pairs = zip(names, function.__closure__, strict=True)
        return tuple(cell if name in written else self._cell(name, cell) for name, cell in pairs)

    def _cell(self, name: str, cell: CellType) -> CellType:
        if id(cell) in self._cells:
            return self._cells[id(cell)]
        value = _contents(cell)
        if is_constant(value):
            own = CellType(value)
            self._constants.setdefault(name, []).append((own, cell))
        elif isinstance(value, FunctionType):
            own = CellType()
        else:
            return cell
        self._cells[id(cell)] = own
        return own

    def _fill(self, function: FunctionType) -> None:
        """Put copies of the functions that a closure holds into its cells."""
        for cell in function.__closure__ or ():
            own = self._cells.get(id(cell))
            value = _contents(cell)
            if own is not None and isinstance(value, FunctionType) and _contents(own) is None:
                own.cell_contents = value
                own.cell_contents = self.function(value)

    def _helpers(self, function: FunctionType) -> None:
        """Copy the functions of the same module that a function names."""
        module = function.__globals__
        if id(module) not in self._modules:
            return
        own = self._globals_of(module)
        for name in names_of(function.__code__):
            helper = module.get(name)
            if isinstance(helper, FunctionType) and helper.__globals__ is module:
                own[name] = self.function(helper)


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def plain(method: Any) -> FunctionType | None:
    """Give the function of a bound method, or None where there is none."""
    function = method.__func__ if isinstance(method, MethodType) else method
    return function if isinstance(function, FunctionType) else None


@lru_cache(maxsize=1024)
def names_of(code: CodeType) -> tuple[str, ...]:
    """Give the globals and attributes that a function and those inside it name."""
    return tuple(dict.fromkeys(name for each in _codes(code) for name in each.co_names))


@lru_cache(maxsize=1024)
def _writes_globals(code: CodeType) -> bool:
    """Tell a function that assigns globals: those are meant for everybody."""
    return any(
        instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
        for each in _codes(code)
        for instruction in dis.get_instructions(each)
    )


@lru_cache(maxsize=1024)
def _written_cells(code: CodeType) -> frozenset[str]:
    """Give the closure's names that a function assigns: those are shared with everybody."""
    return frozenset(
        instruction.argval
        for each in _codes(code)
        for instruction in dis.get_instructions(each)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
