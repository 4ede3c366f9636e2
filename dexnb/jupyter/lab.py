"""`Lab`: one Flow id on one page: run it, watch it, turn its knobs, run it again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dexnb.clock import seconds_of
from dexnb.engine import FlowResult, Run, Session
from dexnb.engine.other_input import other_input
from dexnb.errors import DefinitionError, DexnbError, RunNotFound
from dexnb.flow.flow import Flow
from dexnb.flow.mapping import map_start
from dexnb.flow.registry import read_flow
from dexnb.flow.subflow import FLOW_ID_PREFIX
from dexnb.graph import read_graph
from dexnb.jupyter.awaiting_cells import attend_awaiting_cells
from dexnb.jupyter.commands import carry_out
from dexnb.jupyter.errands import Errands
from dexnb.jupyter.feed import SessionFeed
from dexnb.jupyter.knobs import LabKnobs
from dexnb.jupyter.lab_findings import LabFindings
from dexnb.jupyter.maker import made_by
from dexnb.jupyter.outcome import Outcome
from dexnb.jupyter.outputs import Bundle, Outputs
from dexnb.jupyter.picture import picture_html
from dexnb.jupyter.speeds import Speeds
from dexnb.model.finding import Place
from dexnb.model.flow_graph import FlowGraph
from dexnb.model.knob import Knob
from dexnb.model.markup import escaped
from dexnb.widgets.fallback import html_page

if TYPE_CHECKING:
    from dexnb.widgets.lab_widget import LabWidget

STOP_SECONDS = 30.0
"""How long a re-run waits for the run before it to end."""


class Lab:
    """A Flow, its runs under one flow id, and their page; make one with `dexnb.lab(...)`.

    Show it as the last expression of a cell. It never blocks the kernel: the run is elsewhere.
    `start()` begins a run, or goes on with the open one; `await lab.wait()` gives its result;
    `stop()` cancels it. `run` is that `Run`, None before the first one: a value, not to be called.

    Args:
        flow: A Flow, or what makes one: a class or a function. Made anew for each run, a Flow
            brings its in-process jobs along, and other speeds than real time can be chosen.
        flow_id: The name under which its runs are found.
        input: For the start Step.
        session: Where it runs.
        jobs: The system whose jobs are polled, for "Complete job"; the Flow's own by default.
        margin: Seconds that a round leaves free before the heartbeat deadline.
    """

    def __init__(
        self,
        flow: Flow[Any] | Callable[[], Flow[Any]],
        flow_id: str,
        input: Any,
        session: Session,
        *,
        jobs: Any,
        margin: float,
    ) -> None:
        """Register the Flow and look for a run of that id."""
        self._lock = threading.RLock()
        self._speeds = Speeds(session, offered=not isinstance(flow, Flow))
        minimum = session.options.minimum_heartbeat_timeout.total_seconds()
        self._knobs = LabKnobs(margin, minimum)
        self._errands = Errands("dexnb-lab")
        self._outputs = Outputs(self._bundle, self._wait_for_linter)
        self._outcome = Outcome()
        self.other_input = ""
        self._widget: LabWidget | None = None
        self._waits = 0
        self.flow_id = flow_id
        self.run: Run | None = None
        self._adopt(flow, input, jobs=jobs, margin=margin)
        self._feed = SessionFeed(self, self._carry, self._ended)
        if self.run is not None:
            self._knobs.adopt(self.graph, self.run.state().overrides)

    def __repr__(self) -> str:
        """Name the Flow and its id: the same in every run of a notebook."""
        return f"<dexnb Lab of {self.flow.get_flow_type()} {self.flow_id}>"

    def adopt(
        self, flow: Flow[Any] | Callable[[], Flow[Any]], input: Any, *, jobs: Any, margin: float
    ) -> None:
        """Take the code of a cell that was run again; an open run goes on with it.

        An open run keeps its input; `other_input` and the page tell of another one.

        Raises:
            DefinitionError: It is no Flow, and makes none.
            FlowDefinitionError: The Flow cannot be used; lists every problem.
            ValueMappingError: The input does not fit the start Step.
        """
        self._adopt(flow, input, jobs=jobs, margin=margin)
        self._changed()

    def _adopt(
        self, flow: Flow[Any] | Callable[[], Flow[Any]], input: Any, *, jobs: Any, margin: float
    ) -> None:
        with self._lock, self.session.codecs.used():
            made = made_by(flow)
            minimum = self.session.options.minimum_heartbeat_timeout.total_seconds()
            registered = read_flow(made, minimum_heartbeat=minimum)
            if not self._is_subflow:
                map_start(registered, self.flow_id, input)
            self.session.register(made)
            self._make, self.flow = partial(made_by, flow), made
            self.input = input
            self._jobs = jobs
            self._knobs.margin = margin
            self._graph = read_graph(made)
            told = self._changed
            self._findings = LabFindings(
                registered, self._graph, margin=margin, minimum_heartbeat=minimum, told=told
            )
            self.run = self._find()
            state = None if self.run is None else self.run.state()
            self.other_input = ""
            if state is not None and not self._is_subflow:
                self.other_input = other_input(state, registered, input)

    @property
    def _is_subflow(self) -> bool:
        """Whether it only watches: the run has its input from another Flow, which started it."""
        return self.flow_id.startswith(FLOW_ID_PREFIX)

    @property
    def session(self) -> Session:
        """Where it runs now."""
        return self._speeds.session

    @property
    def graph(self) -> FlowGraph:
        """The Flow's definition graph."""
        return self._graph

    @property
    def knobs(self) -> list[Knob]:
        """The constants and options that may be turned, with their legal ranges."""
        return self._knobs.shown(self._graph, self._feed.overrides if self.running else {})

    @property
    def running(self) -> bool:
        """Whether a run is open."""
        return self.run is not None and self.run.status == "RUNNING"

    @property
    def widget(self) -> LabWidget:
        """The page's widget, for layouts and other hosts; made when it is first asked for.

        Raises:
            DexnbError: The page's files are not built; the text tells how.
        """
        # Loaded here, so that a script without a notebook needs no widgets.
        from dexnb.widgets.lab_widget import LabWidget  # noqa: PLC0415

        with self._lock:
            if self._widget is None or self._widget.comm is None:
                self._widget = LabWidget(self._feed, self._drawn, repr(self))
                attend_awaiting_cells()
            return self._widget

    def start(self) -> Run:
        """Start a run with the knobs as they are, or attach to the open one."""
        with self._lock:
            if self.run is not None and self.running:
                return self.run
            self.flow = self._make()
            self.other_input = ""
            chosen = self._knobs.chosen
            self.run = self.session.start(self.flow, self.flow_id, self.input, overrides=chosen)
            self._changed()
            return self.run

    def stop(self) -> None:
        """Cancel the open run; without one nothing happens."""
        if self.run is not None and self.running:
            self.run.stop("CANCEL", "stopped in the Lab")
        self._changed()

    def rerun(self) -> Run:
        """Cancel the open run, if there is one, and start another with the knobs as they are."""
        with self._lock:
            if self.run is not None and self.running:
                self.run.stop("CANCEL", "run again in the Lab")
                self.run.wait_sync(STOP_SECONDS)
            return self.start()

    def complete_job(self, result: str | None = None) -> None:
        """Let the job that the Flow waits for succeed now; its id is the flow id.

        Raises:
            DefinitionError: There are no jobs that can be completed.
        """
        jobs = self.jobs
        if jobs is None:
            message = (
                f"{self!r} knows no jobs: give dexnb.lab(..., jobs=...) or the Flow an attribute "
                "`jobs` with `complete`"
            )
            raise DefinitionError(message)
        self.session.call(jobs.complete(self.flow_id, result))

    @property
    def jobs(self) -> Any:
        """The system whose jobs are polled, as far as it is known and can complete them."""
        own = getattr(self.flow, "jobs", None) or getattr(self.flow, "_jobs", None)
        jobs = self._jobs or own
        return jobs if callable(getattr(jobs, "complete", None)) else None

    def set_knob(self, name: str, value: Any, *, live: bool = True) -> float:
        """Turn a knob for the next run and, if `live`, for the open one at once.

        Raises:
            DefinitionError: There is no such knob, or the value breaks the window rule; the old one
                stays.
        """
        with self._lock:
            # The feed knows without asking the store, unless nobody has looked at it.
            open_ = self._feed.running or self.running
            run = self.run if live and open_ else None
            number = self._knobs.turn(self._graph, run, name, value, {})
            self._changed()
            return number

    def set_dispatcher(
        self, *, min_poll_interval: Any = None, long_poll_timeout: Any = None
    ) -> None:
        """Change how the engine polls its store: durations, or seconds; None leaves one alone.

        Raises:
            DefinitionError: A value cannot hold; the old one stays.
        """
        options = self.session.options
        given = (("min_poll_interval", min_poll_interval), ("long_poll_timeout", long_poll_timeout))
        for name, value in given:
            if value is not None:
                zero = name == "long_poll_timeout"
                seconds = seconds_of(value, name=f"dispatcher_{name}", allow_zero=zero)
                setattr(options, f"dispatcher_{name}", timedelta(seconds=seconds))
        self._changed()

    def set_speed(self, factor: float) -> None:
        """Let the next runs pass so many times as fast, on a memory of their own.

        Raises:
            DefinitionError: A run is open, or that speed is not offered.
        """
        with self._lock:
            if factor != self._speeds.speed and self.running:
                message = f"{self.flow_id} runs: stop it before another speed is chosen"
                raise DefinitionError(message)
            self._speeds.choose(factor)
            self.flow = self._make()
            self.session.register(self.flow)
            self.run = self._find()
            self._changed()

    async def wait(self, timeout: float | None = None) -> FlowResult:
        """Wait until the run has ended; interrupting the cell leaves the run alone.

        What is pressed on the page is served meanwhile, on ipykernel 6 too.

        Raises:
            DexnbError: Nothing was started.
            WaitTimeout: It runs on after `timeout` seconds of the session's clock.
        """
        if self.run is None:
            message = f"{self!r} has no run yet: call its start(), or press Run"
            raise DexnbError(message)
        self._waits += 1
        try:
            result = await self.run.wait(timeout)
        finally:
            self._waits -= 1
        # By the cell itself: what executes notebooks takes nothing from between the cells.
        self._outputs.refresh()
        return result

    def view(self) -> dict[str, Any]:
        """Give what is known of the run: a RunView, plain JSON."""
        return self._feed.view()

    def picture(self) -> str:
        """Give the static picture of the page as HTML that every notebook shows, trusted or not.

        Waits for the linter, so that it is the same each time.
        """
        self._wait_for_linter()
        return self._drawn()

    def _drawn(self) -> str:
        return picture_html(self._feed.snapshot(), self._graph, images=True)

    def to_html(self, path: str | Path) -> None:
        """Write the static picture of the page as a file of its own."""
        self._wait_for_linter()
        drawn = picture_html(self._feed.snapshot(), self._graph)
        Path(path).write_text(html_page(f"{self.flow_id} - dexnb", drawn), "utf-8")

    def close(self) -> None:
        """Close the page; the run goes on where its session is."""
        with self._lock:
            if self._widget is not None:
                self._widget.close()
                self._widget = None
            self._speeds.close()

    def look(self) -> None:
        """Learn that the page is looked at: what takes time and it can do without may begin."""
        if self._widget is not None:
            self._findings.begin()

    def source_of(self, place: Place) -> dict[str, Any]:
        """Give the source at the place of one of the page's findings; as `LabFindings` does."""
        return self._findings.source_of(place)

    def page_frame(self) -> dict[str, Any]:
        """Give the page but for its two views; for the feed."""
        options, feed = self.session.options, self._feed
        running = feed.running
        current = feed.overrides if running else {}
        return {
            "title": self.flow.get_flow_type(),
            "graph": self._graph.to_json(),
            "knobs": [knob.to_json() for knob in self._knobs.shown(self._graph, current)],
            **self._findings.page(
                {**current, **self._knobs.chosen}, self.other_input if running else ""
            ),
            "outputs": [] if running else self._outcome.outputs(self.session, self.run),
            **feed.times(),
            "margin": self._knobs.margin,
            "settings": {
                "min_poll_interval": options.dispatcher_min_poll_interval.total_seconds(),
                "long_poll_timeout": options.dispatcher_long_poll_timeout.total_seconds(),
            },
            "runtime": {
                "name": self.session.name or "memory:",
                "clock": self.session.clock.identity,
                "state": "open" if self.session.is_open else "closed",
            },
            "actions": {
                "run": self.run is None and not running and not self._is_subflow,
                "stop": running,
                "rerun": self.run is not None and not self._is_subflow,
                "complete_job": running and self.jobs is not None,
                "jobs": self.jobs is not None,
                "speeds": self._speeds.all,
                "speed": self._speeds.speed,
            },
        }

    def _find(self) -> Run | None:
        try:
            found = self.session.get(self.flow_id)
        except RunNotFound:
            return None
        same = found.state().flow_type == self.flow.get_flow_type()
        return found if same else None

    def _wait_for_linter(self) -> None:
        self._findings.wait()

    def _carry(self, name: str, args: dict[str, Any]) -> Any:
        return self._errands.run(carry_out, self, name, args)

    def _changed(self) -> None:
        self._feed.touch()
        if self._widget is not None:
            self._widget.publisher.poke()

    def _ended(self) -> None:
        """Put the last picture into the outputs, unless a cell that waits does."""
        if not self._waits:
            self._outputs.refresh()

    def _ipython_display_(self) -> None:
        """Show the page in the output of a cell; IPython calls this."""
        self._outputs.show()

    def _bundle(self) -> Bundle:
        try:
            bundle = self.widget._repr_mimebundle_()
        except DexnbError as error:
            # A clone whose page is not built: the picture, and how to build the page.
            hint = f"<p><em>{escaped(str(error), 400)}</em></p>"
            return {"text/plain": repr(self), "text/html": self._drawn() + hint}, {}
        return bundle or ({"text/plain": repr(self), "text/html": self._drawn()}, {})
