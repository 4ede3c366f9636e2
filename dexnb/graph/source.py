"""A function's source as a syntax tree, read per method and always of its current definition.

Looking up a method works in notebook cells too, because IPython keeps their text; looking up a
class does not. Nothing is run.
"""

from __future__ import annotations

import ast
import inspect
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, Literal, TypeVar, overload

MadeT = TypeVar("MadeT")
Tree = ast.FunctionDef | ast.AsyncFunctionDef
MOST_TREES = 1000
"""Trees that are kept: what a code object was made from never changes."""

TOO_DEEP = "it is nested too deeply to be read: split it"
TRIES = 5
STILL = "__dexnb_still__"
"""The attribute of a function that was made from text and cannot run; holds its `Written`."""

_trees: dict[int, tuple[CodeType | None, Tree | None]] = {}
_lock = threading.Lock()
_FUTURE_FLAGS = 0x1FE0000
_REWRITTEN = "@py"
"""What pytest's rewriting of assert adds to a function's names."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A function with its tree; line and column numbers are those of its file or cell."""

    function: FunctionType
    tree: Tree

    @property
    def file(self) -> str:
        """Name the file or cell."""
        return self.function.__code__.co_filename


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """Where a function stands that was made from text.

    Args:
        tree: What it says.
        path: Its file, as it was named by who asked.
        cell: The cell's id in a notebook.
        lines: The text of the file or the cell.
    """

    tree: Tree
    path: str
    cell: str
    lines: tuple[str, ...]


def written(function: FunctionType) -> Written | None:
    """Give where a function stands that was made from text; None for one that can run."""
    found = vars(function).get(STILL)
    return found if isinstance(found, Written) else None


def plain_function(thing: Any) -> FunctionType | None:
    """Give the function behind a method, a wrapper or a static method; None where there is none."""
    thing = getattr(thing, "__func__", thing)
    try:
        thing = inspect.unwrap(thing)
    except ValueError:
        return None
    return thing if isinstance(thing, FunctionType) else None


def read_source(function: FunctionType) -> Source | None:
    """Give a function's tree, or None where its text is not there or is another one by now."""
    still = written(function)
    if still is not None:
        return Source(function, still.tree)
    code = function.__code__
    tree = _trees.get(id(code), (None, None))[1]
    if tree is None:
        tree = _read(function)
        if tree is None:
            return None
        if len(_trees) >= MOST_TREES:
            _trees.clear()
        # With its code, so that the id stays its own.
        _trees[id(code)] = (code, tree)
    return Source(function, tree)


def _read(function: FunctionType) -> Tree | None:
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, IndexError, SyntaxError):
        return None
    try:
        return made_alone(lambda: _fitting("".join(lines), max(first, 1), function.__code__))
    except SystemError:
        return None


@overload
def parsed(text: str, mode: Literal["exec"] = "exec") -> ast.Module: ...
@overload
def parsed(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parsed(text: str, mode: Literal["exec", "eval"] = "exec") -> ast.Module | ast.Expression:
    """Give the tree of a text: of a module, or with `eval` of an expression.

    Raises:
        SyntaxError: It is no Python, or nested too deeply.
    """
    try:
        made: Any = made_alone(lambda: ast.parse(text, mode=mode))
    except (ValueError, SystemError) as error:
        raise SyntaxError(str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise SyntaxError(TOO_DEEP) from error
    tree: ast.Module | ast.Expression = made
    return tree


def made_alone(make: Callable[[], MadeT]) -> MadeT:
    """Make a tree while no other thread makes one.

    Python 3.11 mixes up trees that are made in two threads, and says so by a SystemError. What it
    has to say of strange escapes in a text is nobody's business here.

    Raises:
        SystemError: It was mixed up each time.
    """
    for _ in range(TRIES):
        with suppress(SystemError), _lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make()
    raise SystemError("other threads make trees all the time")


def _fitting(text: str, first: int, code: CodeType) -> Tree | None:
    tree = _parse(text, first)
    return tree if tree is not None and _fits(tree, code) else None


def _parse(text: str, first: int) -> Tree | None:
    # An indented method is put under an `if`, which also keeps its columns.
    indented = text[:1].isspace()
    try:
        module = ast.parse(f"if True:\n{text}" if indented else text)
    except (SyntaxError, ValueError):
        return None
    statement = module.body[0] if module.body else None
    if indented and isinstance(statement, ast.If):
        statement = statement.body[0]
        first -= 1
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    ast.increment_lineno(statement, first - 1)
    return statement


def _fits(tree: Tree, code: CodeType) -> bool:
    """Tell whether the text makes this code: a file may have been edited after its import."""
    if tree.name != code.co_name:
        return False
    bare = type(tree)(**{**dict(ast.iter_fields(tree)), "decorator_list": []})
    ast.copy_location(bare, tree)
    try:
        module = compile(
            ast.Module([bare], []),
            code.co_filename,
            "exec",
            flags=code.co_flags & _FUTURE_FLAGS,
            dont_inherit=True,
        )
    except (SyntaxError, ValueError):
        return False
    made = next((c for c in _codes(module) if c.co_name == code.co_name and c is not module), None)
    if made is None:
        return False
    ours, theirs = _words(made), _words(code)
    if any(str(word).startswith(_REWRITTEN) for word in theirs):
        return ours <= theirs
    return ours == theirs


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _words(code: CodeType) -> set[Any]:
    """Give the names and constants of a function and of those inside it."""
    words: set[Any] = set()
    for each in _codes(code):
        names = (*each.co_names, *each.co_freevars, *each.co_cellvars, *each.co_varnames)
        words.update(map(_unmangled, names))
        words.update(repr(c) for c in each.co_consts if not isinstance(c, CodeType))
    # A class around the function adds this cell; the text of the function alone does not.
    words.discard("__class__")
    return words


def _unmangled(name: str) -> str:
    if name.startswith("_") and "__" in name[1:] and not name.startswith("__"):
        return name[name.index("__", 1) :]
    return name


def is_users(function: FunctionType) -> bool:
    """Tell whether a function is the user's own: of neither dexnb nor the standard library.

    dexnb's examples count as the user's: they are read like any other Flow.
    """
    module = str(function.__globals__.get("__name__", ""))
    top = module.partition(".")[0]
    if module.startswith("dexnb."):
        return module.startswith("dexnb.examples.")
    return top not in sys.stdlib_module_names or top in ("__main__", "__mp_main__")
