"""`Machine`: the parts of the interpreter, what they share, and its bounds."""

from __future__ import annotations

import ast
from datetime import timedelta
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

from dexnb.errors import DexnbError
from dexnb.graph.source import written
from dexnb.graph.still.annotations import Annotations
from dexnb.graph.still.attributes import STAND_IN, is_stand_in
from dexnb.graph.still.bodies import ClassBody
from dexnb.graph.still.calls import Calls
from dexnb.graph.still.classes import Classes
from dexnb.graph.still.definitions import Definitions
from dexnb.graph.still.expressions import Expressions
from dexnb.graph.still.functions import Functions
from dexnb.graph.still.imports import Imports
from dexnb.graph.still.instances import Instances
from dexnb.graph.still.names import Module, Names
from dexnb.graph.still.neighbours import MOST_FILES, Neighbours, named, near_path
from dexnb.graph.still.problem import ProblemKind, SourceProblem
from dexnb.graph.still.records import Records
from dexnb.graph.still.statements import Statements
from dexnb.graph.still.text import UnreadableText, read_text
from dexnb.graph.still.unit import NotParsed, Unit, definitions, parse_unit

MOST_WORK: Final = 200_000
"""Expressions that are worked out for one text; no definition needs a tenth of it."""


_DEEPEST_FILES: Final = 10
"""How many files deep imports are followed at once; most are looked up later, and one by one."""


class Exhausted(Exception):
    """A text asks for more work than any definition needs."""


class Machine:
    """Works out what texts define; runs nothing of them.

    Args:
        neighbours: Finds the files beside a text, which its imports may name.
    """

    def __init__(self, neighbours: Neighbours) -> None:
        """Put the parts together."""
        self.neighbours = neighbours
        self.annotations = Annotations(self)
        self.calls = Calls(self)
        self.classes = Classes(self)
        self.definitions = Definitions(self)
        self.expressions = Expressions(self)
        self.functions = Functions(self)
        self.imports = Imports(self)
        self.instances = Instances(self)
        self.records = Records(self)
        self.statements = Statements(self)
        self._near: dict[Path, Module | None] = {}
        self._bare: list[Module] = []
        self._loaded = 0
        self._following = 0
        self._finishing = False
        self.begin()

    def begin(self) -> None:
        """Begin with another text."""
        self.problems: dict[SourceProblem, None] = {}
        self.about = ("", "")
        self.work = 0
        self.depth = 0
        self._loaded = 0

    def value(self, expression: ast.expr, names: Names) -> Any:
        """Work an expression out; `Opaque` for what cannot be told.

        Raises:
            Exhausted: The text has used up its work.
            DexnbError: A definition refuses what it is given.
        """
        self.worked()
        return self.expressions.value(expression, names)

    def worked(self) -> None:
        """Count one piece of work.

        Raises:
            Exhausted: The text has used up its work.
        """
        self.work += 1
        if self.work > MOST_WORK:
            raise Exhausted

    def note(
        self, kind: ProblemKind, message: str, names: Names, node: Any, field: str = ""
    ) -> None:
        """Add a problem, once."""
        flow, step = self.about
        self.tell(SourceProblem(kind, message, names.unit.place(node), flow, step, field))

    def tell(self, problem: SourceProblem) -> None:
        """Add a problem, once."""
        self.problems[problem] = None

    @staticmethod
    def truth(value: Any) -> bool | None:
        """Tell what a condition says; None where it cannot be told."""
        if type(value) in _TRUE_BY_VALUE:
            return bool(value)
        if isinstance(value, type | FunctionType):
            return True
        made = type(value)
        if not is_stand_in(made):
            return None
        # What a class of the text says of its own truth is never asked.
        bodies = (vars(each).get(STAND_IN) for each in made.__mro__)
        own = (body.names.values for body in bodies if isinstance(body, ClassBody))
        return None if any("__bool__" in each or "__len__" in each for each in own) else True

    def follow(self, unit: Unit, module: Module) -> None:
        """Follow a file's or a cell's statements."""
        names = Names(module.namespace, "module", module, unit)
        if module not in self._bare:
            self._bare.append(module)
        self._following += 1
        try:
            self.statements.run(unit.tree.body, names)
            self._makers(module)
        except Exhausted:
            message = "it asks for more work than definitions need: the rest of it is not read"
            self.note("cannot-tell", message, names, None)
        finally:
            self._following -= 1

    def _makers(self, module: Module) -> None:
        """Follow functions that define classes and that nobody has called, for those classes."""
        for value in tuple(module.namespace.values()):
            body = written(value) if isinstance(value, FunctionType) else None
            if (
                body is None
                or id(value) in module.made
                or value.__globals__ is not module.namespace
            ):
                continue
            module.made.add(id(value))
            if any(isinstance(node, ast.ClassDef) for node in definitions(body.tree.body)):
                before = len(module.classes)
                try:
                    self.calls.outcomes(value, [], {})
                except DexnbError:
                    del module.classes[before:]

    def opened(self, module: Module) -> None:
        """Let files beside a text import that text as it is read now."""
        if module.path:
            self._near[Path(module.path).absolute()] = module

    def load(self, name: str, near: Module) -> Module | None:
        """Give a module beside another one, or None."""
        if not near.path:
            return None
        file = self.neighbours.find(name, Path(near.path).absolute())
        if file is None or self._following > _DEEPEST_FILES:
            return None
        if file not in self._near and self._loaded < MOST_FILES:
            self._loaded += 1
            self._near[file] = None
            self._near[file] = self._read(file, name)
        found = self._near.get(file)
        if found is not None:
            near.near.append(found)
        return found

    def _read(self, file: Path, name: str) -> Module | None:
        if file.is_dir():
            return Module(name, name, near_path(file / "__init__.py"))
        found, package = named(file)
        module = Module(found or name, package, near_path(file))
        self._near[file] = module
        around = self.problems, self.about, self.work, self.depth
        self.problems, self.about, self.work, self.depth = {}, ("", ""), 0, 0
        try:
            self.follow(parse_unit(read_text(file), module.path), module)
            if not self._following:
                # Looked up late, when the classes of the text itself are finished already.
                self.finish()
        except (UnreadableText, NotParsed):
            return None
        finally:
            self.problems, self.about, self.work, self.depth = around
        return module

    def exported(self, module: ModuleType) -> Any:
        """Give the `__all__` of a module that was made of text."""
        for each in self._near.values():
            if each is not None and each.object is module:
                return each.exported
        return None

    def finish(self) -> None:
        """Give classes and methods their annotations, once all names are there.

        An annotation may lead to a file that is read only now: it waits for its turn.
        """
        if self._finishing:
            return
        self._finishing = True
        try:
            while self._bare:
                self._finish(self._bare.pop(0))
        finally:
            self._finishing = False

    def _finish(self, module: Module) -> None:
        self.work = 0
        for class_ in module.classes:
            try:
                self.classes.annotate(class_)
            except (Exhausted, RecursionError):
                self.work = 0


_TRUE_BY_VALUE = (
    str,
    int,
    float,
    bool,
    bytes,
    type(None),
    list,
    tuple,
    dict,
    set,
    frozenset,
    timedelta,
)
