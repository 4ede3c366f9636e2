"""`LabWidget`: the one widget of dexnb. All it shows is told by its publisher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anywidget
import traitlets

from dexnb.widgets.feed import Feed
from dexnb.widgets.publisher import Publisher
from dexnb.widgets.static_files import read_static
from dexnb.widgets.switching import short_switches
from dexnb.widgets.wire import bounded_page

INITIAL_BYTES = 60_000


class LabWidget(anywidget.AnyWidget):
    """The page of a Lab.

    Args:
        feed: What is shown, and what takes the page's commands.
        picture: Gives the static picture as HTML, for where there is no kernel and no script.
        name: What the widget calls itself; the same in every run of a notebook.

    Raises:
        DexnbError: The page's files are not built.
    """

    initial = traitlets.Dict().tag(sync=True)
    """The page at the time of making, for a first paint without a round trip."""

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    def __init__(self, feed: Feed, picture: Callable[[], str], name: str) -> None:
        """Open the comm and start to publish."""
        self._picture = picture
        self._name = name
        closed = feed.changes().closed
        super().__init__(
            _esm=read_static("lab.js"),
            _css=read_static("lab.css"),
            initial=bounded_page(feed.page(), INITIAL_BYTES)[0],
        )
        self.publisher = Publisher(self, feed, closed)
        self.on_msg(self._receive)
        self._release_switches = short_switches.hold()
        self.publisher.start()

    def __repr__(self) -> str:
        """Name what is shown, and nothing that differs between two runs of a notebook."""
        return self._name

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Give the widget, and beside it the static picture."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/html": self._picture(), "text/plain": repr(self)}, metadata

    def close(self) -> None:
        """Close the comm and stop to publish; the run goes on."""
        if hasattr(self, "publisher"):
            self.publisher.close()
            self._release_switches()
        super().close()

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        self.publisher.receive(content)
