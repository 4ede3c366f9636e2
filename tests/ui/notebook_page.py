"""A notebook in the browser, driven through JupyterLab's own commands."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Locator, Page
from tests.ui.jupyter_server import JupyterServer

PATIENCE = 30_000.0
"""Milliseconds until a state that must come counts as missing."""

_READY = """(count) => {
  const panel = window.jupyterapp?.shell.currentWidget;
  const kernel = panel?.sessionContext?.session?.kernel;
  return kernel?.status === 'idle' && panel.content?.widgets.length === count
    && panel.sessionContext.isReady;
}"""
_RUN = """(index) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = index;
  content.deselectAll();
  content.mode = 'command';
  window.dexnbBegan = performance.now();
  const model = content.widgets[index].model;
  model.executionCount = null;
  window.jupyterapp.commands.execute('notebook:run-cell');
}"""
_RAN = """(index) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  return content.widgets[index].model.executionCount !== null;
}"""
_BUSY = """(index) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  return content.widgets[index].model.executionCount === null;
}"""
_ANSWERED = """async ([name, patience]) => {
  const find = () => [...document.querySelectorAll('section.dexnb header button')]
    .find((button) => button.textContent.trim() === name);
  const until = performance.now() + patience;
  const wait = async (fits) => {
    while (!fits()) {
      if (performance.now() > until) throw new Error(`${name}: no answer`);
      await new Promise((go) => setTimeout(go, 4));
    }
  };
  await wait(() => find() && !find().disabled);
  const began = performance.now();
  find().click();
  await wait(() => find().getAttribute('aria-busy') === 'true');
  await wait(() => find().getAttribute('aria-busy') === 'false');
  return performance.now() - began;
}"""
_RELOAD = """async () => {
  await window.jupyterapp.commands.execute('docmanager:save');
}"""
_CELLS = """() => {
  const { content } = window.jupyterapp.shell.currentWidget;
  return content.widgets.map((cell) => [cell.model.type, cell.model.sharedModel.getSource()]);
}"""
_OUTPUT = """(index) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  return content.widgets[index].model.outputs.toJSON();
}"""


class NotebookPage:
    """One notebook of its own name, and the Lab in it.

    Args:
        page: A page of the browser.
        server: Where the notebook lies.
    """

    def __init__(self, page: Page, server: JupyterServer) -> None:
        """Open nothing yet."""
        self.page = page
        self.server = server
        self.name = ""
        self.count = 0

    def open(self, *cells: str) -> None:
        """Write a notebook of these cells and open it; returns when its kernel is idle."""
        self.name = f"n{uuid.uuid4().hex[:8]}.ipynb"
        self.count = len(cells)
        path = self.server.root / self.name
        path.write_text(json.dumps(_document(cells)), "utf-8")
        self.page.goto(self.server.link(self.name))
        self.wait_idle()

    def wait_idle(self) -> None:
        """Wait until the notebook is shown and its kernel has nothing to do."""
        self.page.wait_for_function(_READY, arg=self.count, timeout=PATIENCE)

    def begin(self, index: int) -> None:
        """Run a cell without waiting for it."""
        self.page.evaluate(_RUN, index)

    def run(self, index: int) -> None:
        """Run a cell to its end."""
        self.begin(index)
        self.ended(index)

    def busy(self, index: int) -> bool:
        """Say whether a cell that was begun has not ended."""
        return bool(self.page.evaluate(_BUSY, index))

    def ended(self, index: int) -> None:
        """Wait until a cell that was begun has ended."""
        self.page.wait_for_function(_RAN, arg=index, timeout=PATIENCE)

    def answered(self, name: str) -> float:
        """Press a button as soon as it may be; give the milliseconds until Python's answer."""
        return float(self.page.evaluate(_ANSWERED, [name, PATIENCE]))

    def reload(self) -> None:
        """Save the notebook and load the page again."""
        self.page.evaluate(_RELOAD)
        self.page.goto(self.server.link(self.name))
        self.wait_idle()

    def output(self, index: int) -> list[dict[str, Any]]:
        """Give a cell's outputs as the notebook would save them."""
        found: list[dict[str, Any]] = self.page.evaluate(_OUTPUT, index)
        return found

    def printed(self, index: int) -> str:
        """Run a cell and give what it printed."""
        self.run(index)
        return "".join(
            "".join(each["text"]) for each in self.output(index) if each["output_type"] == "stream"
        ).strip()

    def cells(self) -> list[list[str]]:
        """Give type and source of each cell."""
        found: list[list[str]] = self.page.evaluate(_CELLS)
        return found

    def command(self, name: str) -> None:
        """Carry out a command of JupyterLab."""
        self.page.evaluate("(name) => void window.jupyterapp.commands.execute(name)", name)

    @property
    def lab(self) -> Locator:
        """The Lab's frame."""
        return self.page.locator("section.dexnb")

    def button(self, name: str) -> Locator:
        """A button of the Lab."""
        return self.lab.get_by_role("button", name=name, exact=True)

    @property
    def standing(self) -> Locator:
        """How the run stands, as the header says it."""
        return self.lab.locator("header [role=status]")

    def step(self, name: str) -> Locator:
        """A Step in the graph."""
        return self.lab.locator(".react-flow__node").filter(has_text=name).first


def _document(cells: Sequence[str]) -> dict[str, Any]:
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "cells": [
            {
                "id": f"cell{number}",
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": source,
            }
            for number, source in enumerate(cells)
        ],
    }
