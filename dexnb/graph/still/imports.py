"""Imports of a text: from the allow-list, from files beside it, or opaque."""

from __future__ import annotations

import ast
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dexnb.graph.opaque import Later, Opaque
from dexnb.graph.origin import ORIGINS
from dexnb.graph.still.attributes import attribute
from dexnb.graph.still.names import Module, Names
from dexnb.graph.still.trusted import trusted_module

if TYPE_CHECKING:
    from dexnb.graph.still.machine import Machine


class Imports:
    """Binds what imports name."""

    def __init__(self, machine: Machine) -> None:
        """Be a part of this."""
        self.machine = machine

    def run(self, node: ast.Import | ast.ImportFrom, names: Names) -> None:
        """Follow one import."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._whole(alias, names)
            return
        home = absolute(node, names.module)
        for alias in node.names:
            if alias.name == "*":
                self._star(self.module(home, names.module), names)
                continue
            name = alias.asname or alias.name
            names.module.origins[name] = f"{home}.{alias.name}"
            part = Later(partial(self._part, home, alias.name, names))
            at_once = names.kind != "module" or trusted_module(home) is not None
            names.set(name, part.found() if at_once else part)

    def _whole(self, alias: ast.alias, names: Names) -> None:
        held = self.module(alias.name, names.module)
        if alias.asname is not None:
            names.module.origins[alias.asname] = alias.name
            names.set(alias.asname, held)
            return
        top = alias.name.partition(".")[0]
        names.module.origins[top] = top
        names.set(top, self.module(top, names.module))

    def module(self, name: str, module: Module) -> Any:
        """Give a module by its absolute name."""
        found = trusted_module(name)
        if found is not None:
            return found
        near: Any = None
        parent: Any = None
        for part in _prefixes(name):
            near = self.machine.load(part, module)
            if near is None:
                return Opaque(name)
            if parent is not None:
                parent.namespace.setdefault(part.rpartition(".")[2], near.object)
            parent = near
        return near.object

    def _part(self, home: str, name: str, names: Names) -> Any:
        held = self.module(home, names.module)
        if isinstance(held, ModuleType) and ORIGINS in vars(held):
            there = vars(held).get(name)
            # A package that imports its own part by that name has nothing else of the name.
            own = isinstance(there, Later) and there.looking
            if name in vars(held) and not own:
                return attribute(self.machine, held, name, names)
            below = self.module(f"{home}.{name}", names.module)
            return below if not isinstance(below, Opaque) else Opaque(f"{home}.{name}")
        return attribute(self.machine, held, name, names)

    def _star(self, held: Any, names: Names) -> None:
        if not isinstance(held, ModuleType):
            return
        listed = vars(held).get("__all__")
        if ORIGINS in vars(held):
            listed = self.machine.exported(held)
        if not isinstance(listed, list | tuple):
            listed = [name for name in vars(held) if not name.startswith("_")]
        for name in listed:
            if isinstance(name, str):
                names.module.origins[name] = f"{held.__name__}.{name}"
                there = vars(held).get(name)
                later = isinstance(there, Later)
                names.set(name, there if later else attribute(self.machine, held, name, names))


def absolute(node: ast.ImportFrom, module: Module) -> str:
    """Give the absolute name of what a `from` names."""
    if not node.level:
        return node.module or ""
    parts = module.package.split(".") if module.package else []
    kept = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
    return ".".join([*kept, *([node.module] if node.module else [])])


def _prefixes(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: end + 1]) for end in range(len(parts))]
