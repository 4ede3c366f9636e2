"""What a text makes in more ways than one, or hands on to other hands: never read as if plain."""

from __future__ import annotations

import pytest

from dexnb.graph.still import FoundFlow, read_source
from tests.graph.still.texts import END, HEAD, flow_in

TARGETS = """
class X(End):
    pass
class Y(End):
    pass
"""


def _codes(found: FoundFlow) -> set[str]:
    return {each.code for each in found.graph.diagnostics}


def _edges(found: FoundFlow) -> set[str]:
    return {edge.id for edge in found.graph.edges}


def test_options_of_a_class_that_is_no_step_are_those_of_the_step_that_takes_them_in() -> None:
    """Nothing of the text runs for it, and its way leads where it leads."""
    found = flow_in(f"""{TARGETS}
class Options:
    def get_step_options(self) -> StepOptions:
        return StepOptions().on_execute_failure_proceed_to(Y)
class Runs:
    def execute(self, context: Context, input: int) -> StepDecision:
        return go_to(X, input)
class A(Runs, Options, Step[int]):
    pass
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A()).other_steps(X(), Y())
""")
    assert found.problems == ()
    assert {"transition:A:X", "failure_transition:A:Y"} <= _edges(found)


def test_a_schema_of_a_class_that_is_no_flow_is_that_of_the_flow_that_takes_it_in() -> None:
    """A Stream that is listed there is listed."""
    found = flow_in("""
NOTES = Stream("notes", str, 1 << 20)
class Common:
    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(NOTES)
class A(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        NOTES.write(context, "x")
        return graceful_complete()
class F(Common, Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A())
""")
    assert found.problems == ()
    assert _codes(found) == set()


@pytest.mark.parametrize("method", ["@timed\n    def {}(self)", "@staticmethod\n    def {}()"])
def test_an_answer_of_a_mixin_that_is_no_plain_method_is_said_not_to_be_known(method: str) -> None:
    """As one of the Step's own."""
    text = f"""
from nowhere import timed
class Options:
    {method.format("get_step_options")} -> StepOptions:
        return StepOptions()
class A(Options, End):
    pass
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A())
"""
    (problem,) = read_source(HEAD + END + text).problems
    assert (problem.kind, problem.field) == ("cannot-tell", "get_step_options")
    assert "invalid_definition" not in _codes(flow_in(text))


DECORATED = """
import functools
from nowhere import timed
{before}
class A(Step[int]):
    @{decorator}
    def execute(self, context: Context, input: int) -> StepDecision:
        return go_to(X, input)
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A()).other_steps(X(), Y())
"""
AROUND = """
def mine(function):
    def inner(self, context: Context, input: int) -> StepDecision:
        found = function(self, context, input)
        return found if input else go_to(Y, input)
    return inner
def given(times):
    return mine
"""
WRAPPED = AROUND.replace("    def inner", "    @functools.wraps(function)\n    def inner")
PASSED = """
def mine(function):
    @functools.wraps(function)
    def inner(self, context, input):
        print("begins")
        found = function(self, context, input)
        print("ends")
        return found
    return inner
KEPT = []
def kept(function):
    KEPT.append(function)
    return function
"""


@pytest.mark.parametrize("decorator", ["mine", "given(3)"])
def test_a_decorator_of_the_text_is_followed(decorator: str) -> None:
    """What it puts in the method's place decides."""
    found = flow_in(TARGETS + DECORATED.format(before=AROUND, decorator=decorator))
    assert found.problems == ()
    assert {"transition:A:X", "transition:A:Y"} <= _edges(found)
    assert "unreachable_step" not in _codes(found)


@pytest.mark.parametrize(
    ("before", "decorator"), [("", "timed"), ("", "timed(every=5)"), (WRAPPED, "mine")]
)
def test_a_decorator_that_may_change_what_a_method_does_is_said_to_be_left_out(
    before: str, decorator: str
) -> None:
    """At the decorator; and no Step is called unreachable, for it may lead there."""
    found = flow_in(TARGETS + DECORATED.format(before=before, decorator=decorator))
    (problem,) = found.problems
    assert (problem.kind, problem.step, problem.field) == ("cannot-tell", "A", "decorators")
    assert decorator.partition("(")[0] in problem.message
    assert "transition:A:X" in _edges(found)
    assert "unreachable_step" not in _codes(found)


@pytest.mark.parametrize("decorator", ["mine", "kept", "functools.lru_cache(maxsize=3)"])
def test_a_decorator_that_hands_on_what_a_method_gives_is_no_matter(decorator: str) -> None:
    """A method with such is read as it stands."""
    found = flow_in(TARGETS + DECORATED.format(before=PASSED, decorator=decorator))
    assert found.problems == ()
    assert "unreachable_step" in _codes(found)


def test_a_decorator_of_a_function_counts_where_a_step_calls_it() -> None:
    """One of a function that no Step comes to is nobody's business."""
    text = """
from nowhere import app, timed
@timed
def state(i):
    return i
@app.get("/")
def page():
    return "x"
class A(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        return graceful_complete(state(input))
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A())
"""
    (problem,) = flow_in(text).problems
    assert (problem.kind, problem.step, problem.field) == ("cannot-tell", "A", "decorators")
    assert "state" in problem.message


TRIED = """
try:
    {tried}
    TARGET = X
except ImportError:
    TARGET = {other}
class A(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        return go_to(TARGET, input)
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A()).other_steps(X(), Y())
"""


def test_what_an_import_that_may_fail_decides_is_not_known() -> None:
    """Neither way is drawn as the only one."""
    found = flow_in(TARGETS + TRIED.format(tried="import no_such_module", other="Y"))
    assert "transition:A:X" not in _edges(found)
    assert "unreachable_step" not in _codes(found)
    assert "dynamic_step_target" in _codes(found)


def test_what_both_ways_of_an_import_agree_on_is_known() -> None:
    """Whether it fails is no matter then."""
    found = flow_in(TARGETS + TRIED.format(tried="import no_such_module", other="X"))
    assert "transition:A:X" in _edges(found)


def test_functions_that_a_condition_chooses_from_are_all_read() -> None:
    """The decision of each is drawn."""
    found = flow_in(f"""{TARGETS}
try:
    import httpx
except ImportError:
    httpx = None
if httpx:
    def choose(input): return go_to(X, input)
else:
    def choose(input): return go_to(Y, input)
class A(Step[int]):
    def execute(self, context: Context, input: int) -> StepDecision:
        return choose(input)
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A()).other_steps(X(), Y())
""")
    assert {"transition:A:X", "transition:A:Y"} <= _edges(found)
    assert _codes(found) == set()


def test_classes_of_a_function_have_the_names_that_it_gives_them() -> None:
    """Two of them are no Step that is listed twice."""
    found = flow_in(f"""{TARGETS}
def make(target, name):
    class Z(Step[int]):
        def execute(self, context: Context, input: int) -> StepDecision:
            return go_to(target, input)
    Z.__name__ = Z.__qualname__ = name
    return Z
Z1 = make(X, "Z1")
Z2 = make(Y, "Z2")
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(Z1()).other_steps(X(), Y(), Z2())
""")
    assert found.problems == ()
    assert {"transition:Z1:X", "transition:Z2:Y"} <= _edges(found)


def test_a_recovery_that_is_not_known_may_lead_to_any_step() -> None:
    """No Step is called unreachable; one option of another kind that is hidden changes nothing."""
    text = """
from nowhere import chosen
class A(Step[int]):
    def get_step_options(self) -> StepOptions:
        return {options}
    def execute(self, context: Context, input: int) -> StepDecision:
        return go_to(X, input)
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A()).other_steps(X(), Y())
"""
    hidden = "StepOptions().on_execute_failure_proceed_to(chosen)"
    found = flow_in(TARGETS + text.format(options=hidden))
    assert "unreachable_step" not in _codes(found)
    other = "StepOptions(heartbeat_timeout=chosen)"
    assert "unreachable_step" in _codes(flow_in(TARGETS + text.format(options=other)))
