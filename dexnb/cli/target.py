"""From `MODULE_OR_FILE:FLOW` on the command line to a Flow, with its input."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from dexnb.errors import DexnbError, ValueMappingError
from dexnb.flow.codecs import NO_CODECS, CodecRegistry
from dexnb.flow.flow import Flow
from dexnb.flow.registry import RegisteredFlow, read_flow
from dexnb.flow.step import Step
from dexnb.flow.typed import decode


class CommandError(DexnbError):
    """The command line asks for something that cannot be done; the text says what to write."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a Flow is: in a module, named, or in a file.

    Args:
        place: The module's name, or the file's path, as it was given.
        file: The file; None for a module.
        flow: The name of the Flow; empty for the only one there.
    """

    place: str
    file: Path | None
    flow: str

    @property
    def stem(self) -> str:
        """A short name for what belongs to the target, such as its database."""
        return self.file.stem if self.file is not None else self.place.rpartition(".")[2]


def locate(text: str) -> Target:
    """Find the module or the file, without running any of it.

    Raises:
        CommandError: There is none.
    """
    place, colon, flow = text.rpartition(":")
    # The colon of a drive letter belongs to the path.
    if not colon or "/" in flow or "\\" in flow:
        place, flow = text, ""
    is_file = place.endswith(".py") or os.sep in place or "/" in place
    if not is_file:
        _use_folder(Path.cwd())
        if not _has_module(place):
            raise CommandError(
                f"there is no module {place!r} from here: give MODULE:FLOW, for example "
                "dexnb.examples.polling:PollingFlow, or a file such as my_flow.py:MyFlow"
            )
        return Target(place, None, flow)
    file = Path(place)
    if not file.is_file():
        raise CommandError(f"there is no file {place!r}: give MODULE:FLOW or FILE.py:FLOW")
    return Target(place, file.resolve(), flow)


def load(target: Target) -> RegisteredFlow:
    """Do what `load_all` does, where the codecs are not needed.

    Raises:
        DexnbError: As `load_all`.
    """
    return load_all(target)[0]


def load_all(target: Target) -> tuple[RegisteredFlow, CodecRegistry]:
    """Import the module, make the Flow and check its definition; give the codecs beside it, too.

    Raises:
        CommandError: The code raises, or the name is no Flow that can be made.
        FlowDefinitionError: The Flow cannot be used; lists every problem.
    """
    module = import_code(target)
    codecs = codecs_in(module)
    with codecs.used():
        return _made(_pick(module, target), target), codecs


def import_code(target: Target) -> ModuleType:
    """Import the module, or run the file as one.

    Raises:
        CommandError: The code raises.
    """
    with _blaming(f"{target.place} cannot be imported"):
        return _import(target)


def flows_of(module: ModuleType, target: Target) -> list[RegisteredFlow]:
    """Make the Flow that the target names in its module, or each that is defined there.

    Base classes that are abstract are left out, and classes of which an instance is there.

    Raises:
        CommandError: There is none, or one cannot be made.
        FlowDefinitionError: A Flow cannot be used; lists every problem.
    """
    if target.flow:
        return [_made(_pick(module, target), target)]
    own = [thing for thing in vars(module).values() if _is_own_flow(thing, module)]
    instances = {type(thing) for thing in own if not isinstance(thing, type)}
    made = {
        id(thing): _made(thing, target)
        for thing in own
        if not (thing in instances or inspect.isabstract(thing))
    }
    if not made:
        raise CommandError(
            f"{target.place} defines no Flow: give a module or file that does, or name one that "
            f"it imports as {target.place}:FLOW"
        )
    return list(made.values())


def codecs_in(module: ModuleType) -> CodecRegistry:
    """Give the codecs of every CodecRegistry that the module has a name for."""
    found = (thing for thing in vars(module).values() if isinstance(thing, CodecRegistry))
    return reduce(CodecRegistry.joined, found, NO_CODECS)


def read_input(flow: RegisteredFlow, text: str | None) -> Any:
    """Give the input of the start Step, from JSON to the type that it declares.

    Raises:
        CommandError: The text is no JSON, or does not fit.
    """
    if flow.start is None:
        return None
    type_ = flow.start.handler.input_type
    where = f"{flow.flow_type}.{flow.start.step_type}"
    try:
        document = None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CommandError(
            f"--input is {text!r}, which is not JSON ({error}): a string needs its quotes, "
            "for example --input '\"text\"'"
        ) from error
    try:
        return decode(document, type_, f"input of {where}")
    except ValueMappingError as error:
        name = getattr(type_, "__name__", str(type_))
        fix = f"give --input JSON that makes a {name}"
        raise CommandError(f"{error}; {fix}") from error


def _use_folder(folder: Path) -> None:
    # As `python FILE` and `python -m MODULE` do.
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _has_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        # A parent package that is there may itself lack what it imports: let the import say so.
        return error.name is not None and not f"{name}.".startswith(f"{error.name}.")
    except (ImportError, ValueError, AttributeError):
        return False
    except BaseException as error:
        # A parent package's own code; the import reports it.
        if _is_ctrl_c(error):
            raise
        return True


def _import(target: Target) -> ModuleType:
    if target.file is None:
        return importlib.import_module(target.place)
    _use_folder(target.file.parent)
    taken = target.stem in sys.modules or target.stem in sys.stdlib_module_names
    name = f"_dexnb_{target.stem}" if taken else target.stem
    spec = importlib.util.spec_from_file_location(name, target.file)
    if spec is None or spec.loader is None:
        raise CommandError(f"{target.place} is no Python file: give FILE.py:FLOW")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and annotations look their module up by name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _pick(module: ModuleType, target: Target) -> type[Flow[Any]] | Flow[Any]:
    flows = [name for name, thing in vars(module).items() if _is_own_flow(thing, module)]
    names = f"; Flows there: {', '.join(flows)}" if flows else "; there is no Flow in it"
    if not target.flow:
        if len(flows) != 1:
            raise CommandError(f"{target.place}: name the Flow as {target.place}:FLOW{names}")
        return vars(module)[flows[0]]  # type: ignore[no-any-return]
    try:
        found = getattr(module, target.flow)
    except AttributeError:
        raise CommandError(f"{target.place} has no {target.flow!r}{names}") from None
    if isinstance(found, Flow) or (isinstance(found, type) and issubclass(found, Flow)):
        return found
    raise CommandError(f"{target.flow} in {target.place} is no Flow but {_kind(found)}{names}")


def _kind(found: Any) -> str:
    if not isinstance(found, type):
        return f"of type {type(found).__name__}"
    return "a Step class" if issubclass(found, Step) else "another class"


def _is_own_flow(thing: Any, module: ModuleType) -> bool:
    if isinstance(thing, type):
        return issubclass(thing, Flow) and thing.__module__ == module.__name__
    return isinstance(thing, Flow)


def _made(found: type[Flow[Any]] | Flow[Any], target: Target) -> RegisteredFlow:
    with _blaming(f"{target.flow or _name_of(found)} cannot be made a Flow"):
        flow = found() if isinstance(found, type) else found
        return read_flow(flow)


def _name_of(found: type[Flow[Any]] | Flow[Any]) -> str:
    return found.__name__ if isinstance(found, type) else type(found).__name__


@contextmanager
def _blaming(what: str) -> Iterator[None]:
    """Turn whatever the user's code raises into one line that says where."""
    try:
        yield
    except DexnbError:
        raise
    except BaseException as error:
        if _is_ctrl_c(error):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
        if isinstance(error, SyntaxError):
            place = f" ({error.filename}, line {error.lineno})"
        text = f"{what}: {type(error).__name__}: {getattr(error, 'msg', error)}{place}"
        raise CommandError(text) from error


def _is_ctrl_c(error: BaseException) -> bool:
    """Tell Python's own answer to Ctrl-C from an interrupt that the user's code has raised."""
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return isinstance(error, KeyboardInterrupt) and heard
