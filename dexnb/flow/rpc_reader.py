"""Reading a Flow's RPCs: their form, their names, what they lock and load."""

from __future__ import annotations

from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin

from dexnb.errors import Problem
from dexnb.flow.declared import type_problem
from dexnb.flow.flow import Flow
from dexnb.flow.handler import (
    MISSING,
    Form,
    Mode,
    annotated,
    check_context,
    check_input,
    read_signature,
)
from dexnb.flow.name import name_fix
from dexnb.flow.plan import Need, PlanReader
from dexnb.flow.rpc import MARK, RpcOptions, RPCResult, options_of
from dexnb.model.settings import DEFAULT_RPC_TIMEOUT
from dexnb.model.shown import shown

_FORM = Form("(self, context) or (self, context, input)", (1, 2), None)
_RESULT_FIX = "annotate it as RPCResult[YourType], or as None"


@dataclass(frozen=True, slots=True)
class RegisteredRpc:
    """An RPC that can be called.

    Args:
        name: What callers use.
        method: The name of the Flow's method.
        mode: How it is run.
        takes_input: Whether it has an input.
        input_type: What it takes; None's type without an input.
        output_type: What its result holds; None's type for one that returns None.
        timeout: Longest run of one call, in seconds.
        is_transactional: Whether its writes count only if nothing has changed meanwhile.
        locks: Physical names of the Attributes that it locks.
        loads: The Loads document.
    """

    name: str
    method: str
    mode: Mode
    takes_input: bool
    input_type: Any
    output_type: Any
    timeout: float
    is_transactional: bool
    locks: list[str]
    loads: dict[str, list[str]]


class RpcReader:
    """Reads all RPCs of a Flow; look at `problems` and `needs` afterwards."""

    def __init__(self, flow: Flow[Any], flow_type: str) -> None:
        """Start with no problems."""
        self.flow = flow
        self.flow_type = flow_type
        self.problems: list[Problem] = []
        self.needs: list[Need] = []

    def read(self) -> dict[str, RegisteredRpc]:
        """Give the RPCs by name."""
        found: dict[str, RegisteredRpc] = {}
        for method in _marked(self.flow):
            registered = self._rpc(method)
            if registered.name in found:
                first = found[registered.name].method
                fix = f"give one of {first} and {method} another name, @rpc(name='...')"
                self._problem(f"duplicate RPC {registered.name}", "", fix)
            found[registered.name] = registered
        return found

    def _rpc(self, method: str) -> RegisteredRpc:
        where = f"{self.flow_type}.{method}"
        bound = getattr(self.flow, method)
        options = options_of(bound) or RpcOptions()
        name = method if options.name is None else options.name
        fix = name_fix(name)
        if fix is not None:
            self._problem(f"{method} rpc name", shown(name), fix)
        reader = PlanReader(where)
        timeout = reader.seconds("timeout", options.timeout)
        if timeout == 0:
            reader.problem("timeout", options.timeout, "give more than 0 s, or leave it out")
        transactional = reader.flag("is_transactional", options.is_transactional)
        plan = reader.method(options)
        self.problems += reader.problems
        self.needs += reader.needs
        form = self._form(bound, where)
        return RegisteredRpc(
            name=str(name),
            method=method,
            timeout=timeout or DEFAULT_RPC_TIMEOUT,
            is_transactional=transactional,
            locks=plan.locks,
            loads=plan.loads,
            **form,
        )

    def _form(self, bound: Any, where: str) -> dict[str, Any]:
        signature = read_signature(bound, where, _FORM)
        problems = signature.problems
        if signature.mode == "generator":
            fix = "return an RPCResult; an RPC has no heartbeat and no Stream"
            problems.append(Problem(where, "a generator", fix))
        input_type: Any = type(None)
        output_type: Any = type(None)
        if signature.names and len(problems) == 0:
            problems += check_context(signature, where)
            if len(signature.names) > 1:
                input_type = signature.hint(1)
                problems += check_input(input_type, bound, f"{where} {signature.names[1]}")
            output_type, wrong = _output(signature.result, f"{where} return")
            problems += wrong
        self.problems += problems
        return {
            "mode": signature.mode,
            "takes_input": len(signature.names) > 1,
            "input_type": input_type,
            "output_type": output_type,
        }

    def _problem(self, field: str, value: str, fix: str) -> None:
        self.problems.append(Problem(f"{self.flow_type}.{field}", value, fix))


def _marked(flow: Flow[Any]) -> list[str]:
    """Name the methods under `@rpc`, in the order in which they are written, bases first."""
    names: dict[str, None] = {}
    for class_ in reversed(type(flow).__mro__):
        if class_ in _WITHOUT_RPCS:
            continue
        for name, value in vars(class_).items():
            if hasattr(value, MARK):
                names[name] = None
    # One that a subclass overrides without the mark is none any more.
    return [name for name in names if options_of(getattr(flow, name, None)) is not None]


_WITHOUT_RPCS = frozenset(Flow.__mro__)


def _output(annotation: Any, where: str) -> tuple[Any, list[Problem]]:
    """Give the type of what an RPC's result holds."""
    if annotation is MISSING:
        return Any, [Problem(where, annotated(annotation), _RESULT_FIX)]
    union = get_origin(annotation) in (Union, UnionType)
    arms = [arm for arm in (get_args(annotation) if union else (annotation,)) if arm is not _NONE]
    if not arms:
        return _NONE, []
    result = arms[0]
    if len(arms) > 1 or (get_origin(result) or result) is not RPCResult:
        return Any, [Problem(where, annotated(annotation), _RESULT_FIX)]
    output_type = get_args(result)[0] if get_args(result) else Any
    problem = type_problem(output_type)
    return output_type, [Problem(where, annotated(annotation), problem)] if problem else []


_NONE = type(None)
