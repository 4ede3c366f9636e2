"""`Names`: what the names of a module, a class body or a called function stand for."""

from __future__ import annotations

import builtins
from types import CellType, FunctionType, ModuleType
from typing import Any, Literal

from dexnb.graph.opaque import Later, Opaque
from dexnb.graph.origin import ORIGINS
from dexnb.graph.still.unit import Unit

Kind = Literal["module", "class", "function"]


class Missing(Exception):
    """A name stands for nothing."""


class Module:
    """The names of a file or of a notebook's cells, and what was made there.

    Args:
        name: As an import would name it.
        package: The name that relative imports start from.
        path: Its file, as it was named by who asked.
    """

    def __init__(self, name: str, package: str = "", path: str = "") -> None:
        """Begin with no names."""
        self.name = name
        self.package = package
        self.path = path
        self.object = ModuleType(name)
        self.namespace: dict[str, Any] = vars(self.object)
        self.origins: dict[str, str] = {}
        self.namespace[ORIGINS] = self.origins
        self.classes: list[type] = []
        self.made: set[int] = set()
        """Functions that were followed, by id."""
        self.exported: Any = None
        self.near: list[Module] = []

    def get(self, name: str) -> Any:
        """Give what a name stands for here; `Opaque` where it stands for nothing."""
        value = self.namespace.get(name)
        if isinstance(value, Later):
            value = self.namespace[name] = value.found()
        return Opaque() if value is None and name not in self.namespace else value


def modules_behind(module: Module) -> list[Module]:
    """Give a module and those beside it that it imports, and those that they import."""
    found = [module]
    for each in found:
        found += [near for near in each.near if near not in found]
    return found


class Names:
    """One scope and those around it.

    Args:
        values: The names of this scope.
        kind: What scope it is.
        module: The module around it.
        unit: The file or cell that its code stands in.
        outer: The scope around it, None for a module's.
        qualname: What stands before the names of functions and classes defined here.
    """

    def __init__(
        self,
        values: dict[str, Any],
        kind: Kind,
        module: Module,
        unit: Unit,
        outer: Names | None = None,
        qualname: str = "",
    ) -> None:
        """Begin with these."""
        self.values = values
        self.kind = kind
        self.module = module
        self.unit = unit
        self.outer = outer
        self.qualname = qualname
        self.cells: dict[str, CellType] = {}
        self.returns: list[Any] = []
        self.function: FunctionType | None = None
        self.unsure = False
        self.owned: set[int] = set()

    def get(self, name: str) -> Any:
        """Give what a name stands for here.

        Raises:
            Missing: It stands for nothing.
        """
        scope: Names | None = self
        while scope is not None:
            if name in scope.values and (scope is self or scope.kind == "function"):
                return scope.own(name)
            scope = scope.outer
        if name in self.module.namespace and name not in _MODULES_OWN:
            return self.module.get(name)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise Missing(name)

    def own(self, name: str) -> Any:
        """Give what a name of this very scope stands for."""
        value = self.values[name]
        if isinstance(value, Later):
            value = self.values[name] = value.found()
        return value

    def set(self, name: str, value: Any) -> None:
        """Let a name stand for a value."""
        if self.kind == "module" and name.startswith("__") and name.endswith("__"):
            # A module's __getattr__ would be called, __name__ and __path__ be believed.
            if name == "__all__":
                self.module.exported = value
            return
        self.values[name] = value
        if name in self.cells:
            self.cells[name].cell_contents = value

    def forget(self, name: str) -> None:
        """Let a name stand for nothing."""
        self.values.pop(name, None)

    def cell(self, name: str) -> CellType:
        """Give the cell through which a function inside sees a name."""
        scope: Names | None = self
        while scope is not None:
            special = name == "__class__" and scope.kind == "class"
            if special or (scope.kind == "function" and name in scope.values):
                return scope.own_cell(name)
            scope = scope.outer
        return self.own_cell(name)

    def own_cell(self, name: str) -> CellType:
        """Give the cell of a name of this very scope."""
        if name not in self.cells:
            self.cells[name] = CellType()
            if name in self.values:
                self.cells[name].cell_contents = self.values[name]
        return self.cells[name]

    def branch(self) -> Names:
        """Give a copy in which one side of an unknown choice can be tried."""
        values = {name: _copied(value) for name, value in self.values.items()}
        made = Names(values, self.kind, self.module, self.unit, self.outer, self.qualname)
        made.cells = self.cells
        made.returns = self.returns
        made.function = self.function
        made.owned = self.owned | {id(value) for value in values.values()}
        return made

    def take(self, other: Names) -> None:
        """Take the names of a branch that is the only one to go on."""
        for name, value in other.values.items():
            if self.values.get(name, self) is not value:
                self.set(name, value)
        self.unsure = self.unsure or other.unsure
        self.owned |= other.owned

    def join(self, first: Names, second: Names) -> None:
        """Take what two branches agree on; where they do not, nothing is known."""
        for name in {**first.values, **second.values}:
            one = first.values.get(name, second.values.get(name))
            two = second.values.get(name, one)
            if self.values.get(name, self) is not one or one is not two:
                self.set(name, one if same(one, two) else Opaque())
        self.unsure = self.unsure or first.unsure or second.unsure
        self.owned |= first.owned | second.owned


_MODULES_OWN = frozenset({"__loader__", "__spec__", ORIGINS})
_PLAIN = (str, int, float, bool, bytes, type(None))


def same(one: Any, two: Any) -> bool:
    """Tell values that are the same; no comparison of the text's own is used."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    if type(one) in _PLAIN:
        return bool(one == two)
    if type(one) in (list, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if type(one) is dict:
        return list(one) == list(two) and all(map(same, one.values(), two.values()))
    return type(one).__module__ == "datetime" and bool(one == two)


def _copied(value: Any) -> Any:
    return value.copy() if type(value) in (list, dict, set) else value
