"""The widget: one class, built files, a stable name, a static picture, one synced trait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets  # type: ignore[import-untyped]  # it ships no types
import pytest

from dexnb.errors import DexnbError
from dexnb.widgets import static_files
from dexnb.widgets.lab_widget import LabWidget
from dexnb.widgets.static_files import read_static
from tests.widgets.pages import FakeFeed


class FakeComm:
    """A comm that keeps what is sent."""

    def __init__(self, **opened: Any) -> None:
        """Open."""
        self.opened = opened
        self.comm_id = "comm"
        self.kernel = True
        self.sent: list[dict[str, Any]] = []
        self.closed = False
        self.told = threading.Event()
        self.receive: Any = None

    def on_msg(self, callback: Any) -> None:
        """Take who is to be told."""
        self.receive = callback

    def send(self, data: dict[str, Any], buffers: Any = None) -> None:
        """Keep a message."""
        self.sent.append(data)
        self.told.set()

    def close(self) -> None:
        """Close."""
        self.closed = True


@pytest.fixture
def comm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[FakeComm]]:
    """The comms that are opened; the page's files are a stub."""
    (tmp_path / "lab.js").write_text("export default {}", "utf-8")
    (tmp_path / "lab.css").write_text(".lab{}", "utf-8")
    monkeypatch.setattr(
        "dexnb.widgets.lab_widget.read_static", lambda name: read_static(name, tmp_path)
    )
    opened: list[FakeComm] = []

    def create(**arguments: Any) -> FakeComm:
        opened.append(FakeComm(**arguments))
        return opened[-1]

    monkeypatch.setattr(ipywidgets.comm, "create_comm", create)
    yield opened
    ipywidgets.Widget.close_all()


def made() -> LabWidget:
    """Make a widget."""
    return LabWidget(FakeFeed(), lambda: "<p>picture</p>", "<dexnb Lab of Flow id>")


def test_the_page_and_its_files_go_over_the_comm(comm: list[FakeComm]) -> None:
    """The model's state holds the built files and the first page, and no more of ours."""
    made()
    state = comm[-1].opened["data"]["state"]
    assert (state["_esm"], state["_css"]) == ("export default {}", ".lab{}")
    assert state["initial"]["title"] == "Flow"
    assert state["_anywidget_id"] == "dexnb.widgets.lab_widget.LabWidget"


def test_its_text_is_the_same_in_every_run(comm: list[FakeComm]) -> None:
    """No address, and a picture for where there is no kernel."""
    widget = made()
    assert repr(widget) == "<dexnb Lab of Flow id>"
    bundle = widget._repr_mimebundle_()
    assert bundle is not None
    assert bundle[0]["text/html"] == "<p>picture</p>"
    assert bundle[0]["text/plain"] == "<dexnb Lab of Flow id>"
    assert "application/vnd.jupyter.widget-view+json" in bundle[0]


def test_a_ready_page_is_told_over_the_comm(comm: list[FakeComm]) -> None:
    """By a custom message, never by a trait."""
    widget = made()
    content = {"kind": "ready"}
    comm[-1].receive({"content": {"data": {"method": "custom", "content": content}}, "buffers": []})
    assert comm[-1].told.wait(10)
    widget.close()
    (sent,) = comm[-1].sent
    assert (sent["method"], sent["content"]["kind"]) == ("custom", "snapshot")


def test_closing_ends_the_publisher(comm: list[FakeComm]) -> None:
    """And the comm."""
    widget = made()
    widget.close()
    assert comm[-1].closed
    assert widget.publisher.step() is None


def test_a_page_that_is_not_built_is_an_error_that_tells_how(tmp_path: Path) -> None:
    """Instead of a page that shows nothing."""
    with pytest.raises(DexnbError, match="make lab"):
        read_static("lab.js", tmp_path)


def test_the_files_are_read_beside_the_package() -> None:
    """A wheel brings them along."""
    assert static_files.FOLDER.parent.name == "widgets"
