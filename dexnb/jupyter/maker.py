"""`made_by`: the Flow that a Lab was given, or that what it was given makes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from dexnb.errors import DefinitionError
from dexnb.flow.flow import Flow
from dexnb.model.shown import shown


def made_by(flow: Flow[Any] | Callable[[], Flow[Any]]) -> Flow[Any]:
    """Give a Flow as it is; have a class or a function make one.

    Raises:
        DefinitionError: It is no Flow, and makes none.
        Exception: Whatever the class or function raises.
    """
    if isinstance(flow, Flow):
        return flow
    given: Any = flow
    other_class = isinstance(given, type) and not issubclass(given, Flow)
    if other_class or not callable(given):
        fix = "give an instance of a Flow subclass, its class, or a function that makes one"
        raise DefinitionError(f"lab flow is {shown(given)}: {fix}")
    made: Any = given()
    if isinstance(made, Flow):
        return made
    if isinstance(made, Coroutine):
        made.close()
    fix = "let it return an instance of a Flow subclass"
    raise DefinitionError(f"lab flow {shown(given)} gave {shown(made)}: {fix}")
