"""The Flows that a worker serves."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from dexnb.cli.target import CommandError, codecs_in, flows_of, import_code, locate
from dexnb.flow.codecs import NO_CODECS, CodecRegistry
from dexnb.flow.flow import Flow


def load_flows(targets: Iterable[str]) -> tuple[list[Flow[Any]], CodecRegistry]:
    """Import the code of all targets, each module once; make its Flows, and find its codecs.

    Raises:
        CommandError: A target has no Flow, its code raises or it is given twice, or two Flows have
            one name.
        FlowDefinitionError: A Flow cannot be used; lists every problem.
    """
    modules: dict[str, ModuleType] = {}
    places: dict[str, str] = {}
    given: set[tuple[str, str]] = set()
    flows: list[Flow[Any]] = []
    codecs = NO_CODECS
    for text in targets:
        target = locate(text)
        key = str(target.file or target.place)
        if (key, target.flow) in given:
            raise CommandError(f"target {text} is given twice: leave one out")
        given.add((key, target.flow))
        module = modules[key] = modules.get(key) or import_code(target)
        codecs = codecs.joined(codecs_in(module))
        with codecs.used():
            made = flows_of(module, target)
        for found in made:
            if (other := places.get(found.flow_type)) is not None:
                raise CommandError(
                    f"two Flows are named {found.flow_type}, in {other} and in {text}: a worker "
                    "serves one of a name; leave one target out, or give one of the Flows another "
                    "name by get_flow_type"
                )
            places[found.flow_type] = text
            flows.append(found.flow)
    return flows, codecs
