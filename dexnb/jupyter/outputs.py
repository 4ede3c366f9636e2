"""`Outputs`: a Lab in the outputs of cells, and its picture there once the run has ended."""

from __future__ import annotations

import sys
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

MOST = 20
"""Outputs that are remembered; the oldest keep the picture they have."""

Bundle = tuple[dict[str, Any], dict[str, Any]]


WIDGET = "application/vnd.jupyter.widget-view+json"


class Outputs:
    """Where one Lab was displayed: its live page, and below it the static picture.

    The picture has an output of its own, because JupyterLab shows nothing but an error for a
    page whose kernel is gone. Where the live page is drawn, the picture hides itself.

    Args:
        bundle: Gives what is displayed, and its metadata.
        prepare: Called before what is displayed is put anew, and may take its time.
    """

    def __init__(self, bundle: Callable[[], Bundle], prepare: Callable[[], None]) -> None:
        """Start with no output."""
        self._bundle = bundle
        self._prepare = prepare
        self._ids: deque[str] = deque(maxlen=MOST)

    def show(self) -> None:
        """Display in the output of the cell that runs."""
        publisher = _publisher()
        if publisher is None:
            return
        data, metadata = self._bundle()
        if WIDGET in data:
            picture = {"text/html": data.pop("text/html")}
            publisher.publish(data, metadata)
            data, metadata = picture, {}
        display_id = uuid.uuid4().hex
        self._ids.append(display_id)
        publisher.publish(data, metadata, transient={"display_id": display_id})

    def refresh(self) -> None:
        """Put the picture of now into all outputs; for any thread but a comm's callback."""
        publisher = _publisher()
        if publisher is None or not self._ids:
            return
        self._prepare()
        data, _ = self._bundle()
        if WIDGET in data:
            data = {"text/html": data["text/html"]}
        for display_id in tuple(self._ids):
            publisher.publish(data, {}, transient={"display_id": display_id}, update=True)


def _publisher() -> Any:
    """Give IPython's way to an output; None in a plain script, which never loads IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return None if shell is None else shell.display_pub
