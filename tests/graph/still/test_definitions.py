"""What a registration asks, answered from text: known, or said not to be known, never guessed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from dexnb.graph import read_source
from tests.graph.still.texts import END, HEAD, flow_in

STEPS = [
    "return StepList.start_step(A()).other_steps(B(), C())",
    "return StepList.start_step(A()).other_steps(*[B(), C()])",
    "others = [B()]\nothers.append(C())\nreturn StepList.start_step(A()).other_steps(*others)",
    "return StepList.start_step(A()).other_steps(*(step() for step in (B, C)))",
    (
        "steps = StepList.start_step(A())\n"
        "for kind in KINDS:\n"
        "    steps = steps.other_steps(kind())\n"
        "return steps"
    ),
    "first, *rest = A(), B(), C()\nreturn StepList.start_step(A()).other_steps(B(), C())",
    "return steps_of(A, *KINDS)",
    "return super().get_steps().other_steps(B(), C())",
    "return StepList(A(), (B(), C()))",
]


@pytest.mark.parametrize("body", STEPS)
def test_steps_are_worked_out(body: str) -> None:
    """However the list is put together."""
    found = flow_in(_three(body))
    assert found.problems == ()
    assert list(found.registered.steps) == ["A", "B", "C"]
    assert found.registered.start is not None
    assert found.registered.start.step_type == "A"


UNSURE = [
    (
        (
            "if asked():\n"
            "    return StepList.start_step(A()).other_steps(B())\n"
            "return StepList.start_step(A()).other_steps(C())"
        ),
        {"A", "B", "C"},
    ),
    (
        "return StepList.start_step(A()).other_steps(*(each() for each in asked()), B())",
        {"A", "B"},
    ),
    (
        (
            "steps = [A()]\n"
            "if asked():\n"
            "    steps.append(B())\n"
            "return StepList.start_step(C()).other_steps(*steps)"
        ),
        {"A", "B", "C"},
    ),
    (
        "return asked(A(), B())",
        {"A", "B"},
    ),
]


@pytest.mark.parametrize(("body", "steps"), UNSURE)
def test_steps_that_only_running_tells_are_all_drawn_and_said_so(
    body: str, steps: set[str]
) -> None:
    """No Step that is named is missing, and nothing follows from the list."""
    found = flow_in(_three(body))
    assert set(found.registered.steps) == steps
    assert {each.kind for each in found.problems} == {"cannot-tell"}
    assert "get_steps" in {each.field for each in found.problems}
    assert "unreachable_step" not in {each.code for each in found.graph.diagnostics}


def _three(body: str) -> str:
    inner = "\n".join(f"        {line}" for line in body.split("\n"))
    steps = "".join(f"class {name}(End):\n    pass\n" for name in "ABC")
    return (
        f"from nowhere import asked\n{steps}KINDS = (B, C)\n"
        "def steps_of(first, *rest):\n"
        "    return StepList.start_step(first()).other_steps(*[each() for each in rest])\n"
        "class Base(Flow[int]):\n"
        "    def get_steps(self) -> StepList[int]:\n"
        "        raise NotImplementedError if asked() else ValueError\n"
        "class Begin:\n"
        "    def get_steps(self):\n"
        "        return StepList.start_step(A())\n"
        f"class F(Begin, Base):\n    def get_steps(self) -> StepList[int]:\n{inner}\n"
    )


def test_constructors_are_followed_and_not_run() -> None:
    """Constants and parameters are set; what is not known stays so, and does no harm."""
    found = flow_in("""
class Poll(Step[int]):
    every = timedelta(seconds=1)
    def __init__(self, interval: timedelta, client: Any, *, times: int = 2) -> None:
        super().__init__()
        self._interval = interval * times
        self.client = client
        self.made = client.make()
        self.__own = interval
        if times > 1:
            self.many = True
    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        await asyncio.sleep(self._interval.total_seconds())
        await asyncio.sleep(self.client.pause)
        return go_to(End, input)
@dataclass
class Sleep(Step[int]):
    pause: timedelta
    then: type[Step[int]] = End
    async def execute(self, context: AsyncContext, input: int) -> StepDecision:
        await asyncio.sleep(self.pause.total_seconds())
        return go_to(self.then, input)
class F(Flow[int]):
    def __init__(self, client: Any, every: timedelta = timedelta(seconds=3)) -> None:
        self.client = client
        self.every = every
    def get_steps(self) -> StepList[int]:
        poll = Poll(self.every, self.client)
        return StepList.start_step(poll).other_steps(Sleep(timedelta(seconds=7), then=Poll), End())
""")
    assert found.problems == ()
    poll = found.registered.steps["Poll"].step
    assert vars(poll)["_interval"] == timedelta(seconds=6)
    assert vars(poll)["many"] is True
    assert vars(poll)["_Poll__own"] == timedelta(seconds=3)
    graph = {node.id: node for node in found.graph.nodes}
    assert [each.value for each in graph["step:Poll"].timings] == [6.0, None]
    assert [each.value for each in graph["step:Sleep"].timings] == [7.0]
    assert "transition:Sleep:Poll" in {edge.id for edge in found.graph.edges}


def test_a_decorator_over_what_a_registration_asks_is_said_to_be_left_out() -> None:
    """It may give another answer; those that cannot are no matter."""
    text = """
from nowhere import timed
from functools import cache
class F(Flow[int]):
    @{decorator}
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(End())
"""
    reading = read_source(HEAD + END + text.format(decorator="timed(1)"))
    assert [(each.kind, each.field) for each in reading.problems] == [("cannot-tell", "get_steps")]
    assert read_source(HEAD + END + text.format(decorator="cache")).problems == ()


def test_types_and_names_are_asked_of_the_text() -> None:
    """A constant name counts; one that is not known is said so."""
    found = flow_in("""
from nowhere import NAME
PREFIX = "poll"
class A(End):
    def get_step_type(self) -> str:
        return f"{PREFIX}-{type(self).__name__.lower()}"
class B(End):
    def get_step_type(self) -> str:
        return NAME
class F(Flow[int]):
    def get_flow_type(self) -> str:
        return "Renamed"
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(A()).other_steps(B())
""")
    assert found.registered.flow_type == "Renamed"
    assert list(found.registered.steps) == ["poll-a", "B"]
    assert [(each.step, each.field) for each in found.problems] == [("B", "get_step_type")]


def test_attributes_channels_streams_and_rpcs_are_those_of_the_text() -> None:
    """Real definitions, with classes of the text for their types."""
    found = flow_in("""
from third.party import Order
class State(Enum):
    NEW = "new"
@dataclass
class Job:
    state: State
    orders: "list[Order]"
JOBS = Channel("jobs", Job)
STATES = Attribute("states", dict[str, State])
NOTES = Stream("notes", str, 1 << 20)
LOCKED = (STATES.lock(),)
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(End())
    def get_persistence_schema(self) -> PersistenceSchema:
        return PersistenceSchema.of(JOBS, STATES, NOTES, Attribute("order", Order))
    @rpc(name="look", lock_attributes=LOCKED, timeout=timedelta(seconds=3))
    async def ask(self, context: AsyncContext, input: "Job | None") -> RPCResult[list[Job]]:
        return RPCResult([])
""")
    assert found.problems == ()
    rpc = found.registered.rpcs["look"]
    assert (rpc.method, rpc.timeout, rpc.locks, rpc.mode) == ("ask", 3.0, ["states"], "async")
    nodes = {node.id: node.resource for node in found.graph.nodes if node.resource}
    assert nodes["resource:channel:jobs"] == {"valueType": "Job", "map": False}
    assert nodes["resource:attribute:order"] == {"valueType": "Order", "map": False}


def test_definition_errors_stand_at_their_methods() -> None:
    """Each with the words of a registration, and the rest of the graph is there."""
    text = (
        HEAD
        + END
        + """
class Bad(Step[int]):
    def execute(self, context: Context, input) -> StepDecision:
        return go_to(End, 1)
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(Bad()).other_steps(End(), End())
"""
    )
    found = read_source(text).flows[0]
    lines = text.split("\n")
    problems = [(lines[each.place.line - 1].strip(), each.message) for each in found.problems]
    assert [place for place, _ in problems] == [
        "def execute(self, context: Context, input) -> StepDecision:",
        "class F(Flow[int]):",
    ]
    assert "F.Bad.execute input is not annotated" in problems[0][1]
    assert {edge.id for edge in found.graph.edges} == {"transition:Bad:End"}


def test_a_flow_of_a_text_counts_unless_it_is_abstract_or_defined_again() -> None:
    """Those of functions and classes too; imported ones are not the text's."""
    reading = read_source(
        HEAD
        + END
        + """
from dexnb.examples.polling import PollingFlow
def make(pause):
    class Wait(Step[int]):
        async def execute(self, context: AsyncContext, input: int) -> StepDecision:
            await asyncio.sleep(pause)
            return graceful_complete()
    class Inner(Flow[int]):
        def get_steps(self) -> StepList[int]:
            return StepList.start_step(Wait())
    return Inner
Made = make(4)
class Abstract(Flow[int]):
    pass
class AlsoAbstract(Flow[int]):
    def get_steps(self):
        raise NotImplementedError
class Outer:
    class Nested(Flow[int]):
        def get_steps(self) -> StepList[int]:
            return StepList.start_step(End())
class Twice(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.empty()
class Twice(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(End())
def other():
    class Uncalled(Flow[int]):
        def get_steps(self) -> StepList[int]:
            return StepList.start_step(End())
"""
    )
    assert reading.problems == ()
    types = [flow.registered.flow_type for flow in reading.flows]
    assert types == ["Inner", "Nested", "Twice", "Uncalled"]
    assert [each.value for each in reading.flows[0].graph.nodes[0].timings] == [4.0]


def test_dex_itself_counts_as_dexnb() -> None:
    """A file of that world is read before its import line is changed."""
    text = (
        HEAD.replace("from dexnb import", "from dex import")
        + END
        + """
import dex
class F(dex.Flow[int]):
    def get_steps(self) -> StepList[int]:
        return dex.StepList.start_step(End())
"""
    )
    reading = read_source(text)
    assert reading.problems == ()
    assert [flow.registered.flow_type for flow in reading.flows] == ["F"]


def test_a_class_whose_special_methods_are_left_out_is_not_abstract_for_that() -> None:
    """A mapping of the text is made all the same."""
    found = flow_in("""
from collections.abc import Mapping
class Table(Mapping[str, int]):
    def __init__(self, **given: int) -> None:
        self.given = given
    def __getitem__(self, key): return self.given[key]
    def __len__(self): return len(self.given)
    def __iter__(self): return iter(self.given)
TABLE = Table(a=1)
class F(Flow[int]):
    def get_steps(self) -> StepList[int]:
        return StepList.start_step(End())
""")
    assert found.problems == ()
