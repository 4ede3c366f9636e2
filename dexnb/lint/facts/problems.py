"""What is wrong with the definition of a Flow that is alive, with its place."""

from __future__ import annotations

from typing import Any

from dexnb.errors import Problem
from dexnb.flow.registry import RegisteredFlow
from dexnb.graph.read import frame_of
from dexnb.graph.still.problem import SourceProblem
from dexnb.lint.places import place_of
from dexnb.model.finding import Place

_OF_OPTIONS = "get_step_options"


def problem_of(problem: Problem, flow: RegisteredFlow) -> SourceProblem:
    """Give what the registry says as the reader of source texts does.

    The place is the method that the problem is of, `Flow.Step.execute input`, or for an option
    the Step's get_step_options.
    """
    parts = problem.where.split(".")[1:]
    owner: Any = flow.flow
    step = ""
    if parts and parts[0] in flow.steps:
        step, *parts = parts
        owner = flow.steps[step].step
    names = [part.split(" ")[0] for part in parts]
    for name in (*names, *((_OF_OPTIONS,) if step and names else ())):
        frame = frame_of(owner, name)
        if frame is not None:
            place = place_of(frame.tree, frame)
            return SourceProblem("definition", str(problem), place, flow.flow_type, step, name)
    return SourceProblem("definition", str(problem), Place(), flow.flow_type, step)
