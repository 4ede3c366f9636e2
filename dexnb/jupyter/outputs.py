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


class Outputs:
    """Where one Lab was displayed.

    Args:
        bundle: Gives what is displayed, and its metadata.
    """

    def __init__(self, bundle: Callable[[], Bundle]) -> None:
        """Start with no output."""
        self._bundle = bundle
        self._ids: deque[str] = deque(maxlen=MOST)

    def show(self) -> None:
        """Display in the output of the cell that runs."""
        publisher = _publisher()
        if publisher is None:
            return
        display_id = uuid.uuid4().hex
        self._ids.append(display_id)
        self._publish(publisher, display_id, update=False)

    def refresh(self) -> None:
        """Put the picture of now into all outputs; for any thread but a comm's callback."""
        publisher = _publisher()
        if publisher is None:
            return
        for display_id in tuple(self._ids):
            self._publish(publisher, display_id, update=True)

    def _publish(self, publisher: Any, display_id: str, *, update: bool) -> None:
        data, metadata = self._bundle()
        transient = {"display_id": display_id}
        publisher.publish(data, metadata, transient=transient, update=update)


def _publisher() -> Any:
    """Give IPython's way to an output; None in a plain script, which never loads IPython."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return None if shell is None else shell.display_pub
