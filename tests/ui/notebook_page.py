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
_WATCH = """(() => {
  const sent = new Map();
  window.dexnbAnswers = [];
  const text = (data) => typeof data === 'string' ? data : new TextDecoder().decode(data);
  const find = (data, kind) => text(data).match(`"kind": ?"${kind}", ?"id": ?"([^"]+)"`)?.[1];
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', ({ data }) => {
        const began = sent.get(find(data, 'reply'));
        if (began !== undefined) window.dexnbAnswers.push(performance.now() - began);
      });
    }
    send(data) {
      const id = find(data, 'command');
      if (id !== undefined && !sent.has(id)) sent.set(id, performance.now());
      super.send(data);
    }
  };
})();"""
_RELOAD = """async () => {
  await window.jupyterapp.commands.execute('docmanager:save');
}"""
_PAINT = """async (patience) => {
  const until = performance.now() + patience;
  const drawn = () => document.querySelector('section.dexnb .react-flow__node .dexnb-step');
  while (!drawn()?.getBoundingClientRect().width) {
    if (performance.now() > until) throw new Error('no Lab');
    await new Promise((go) => requestAnimationFrame(go));
  }
  return performance.now() - window.dexnbBegan;
}"""
_RESTART = """async () => {
  await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart();
}"""
_THEME = """async (theme) => {
  await window.jupyterapp.commands.execute('apputils:change-theme', { theme });
}"""
_CELLS = """() => {
  const { content } = window.jupyterapp.shell.currentWidget;
  return content.widgets.map((cell) => [cell.model.type, cell.model.sharedModel.getSource()]);
}"""
_TOUCH = """() => {
  const { model } = window.jupyterapp.shell.currentWidget.content;
  model.setMetadata('touched', performance.now());
}"""
_UNSAVED = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
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

    def watch_answers(self) -> None:
        """Measure in the page, from now on, how long Python takes to answer a command."""
        self.page.add_init_script(_WATCH)

    def answers(self) -> list[float]:
        """Give the milliseconds from each command to its answer."""
        found: list[float] = self.page.evaluate("() => window.dexnbAnswers")
        return found

    def reload(self) -> None:
        """Save the notebook and load the page again."""
        self.page.evaluate(_RELOAD)
        self.page.goto(self.server.link(self.name))
        self.wait_idle()

    def touch(self) -> None:
        """Change the notebook, so that there is something to save."""
        self.page.evaluate(_TOUCH)

    @property
    def unsaved(self) -> bool:
        """Whether there is something to save."""
        return bool(self.page.evaluate(_UNSAVED))

    def reopen_without_kernel(self) -> None:
        """Save the notebook, and open it where its kind of kernel is not known."""
        self.page.evaluate(_RELOAD)
        self.page.goto("about:blank")
        path = self.server.root / self.name
        document = json.loads(path.read_text("utf-8"))
        # Neither by its name nor by its language: JupyterLab would take another one of that.
        document["metadata"] = {
            "kernelspec": {"name": "none-such", "display_name": "None such"},
            "language_info": {"name": "none-such"},
        }
        path = path.with_stem(f"{path.stem}-again")
        path.write_text(json.dumps(document), "utf-8")
        self.page.goto(self.server.link(path.name))
        # Not the button of the same name in the notebook's own bar.
        dialog = self.page.locator("dialog.jp-Dialog")
        dialog.get_by_role("button", name="No Kernel", exact=True).click()

    def first_paint(self, index: int) -> float:
        """Run a cell; give the milliseconds until the graph of its Lab is drawn."""
        self.begin(index)
        return float(self.page.evaluate(_PAINT, PATIENCE))

    def restart_kernel(self) -> None:
        """Restart the kernel, as its button does, and wait until it is back."""
        self.page.evaluate(_RESTART)
        self.wait_idle()

    def choose_theme(self, name: str) -> None:
        """Choose JupyterLab's theme."""
        self.page.evaluate(_THEME, name)

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
        return self.lab.locator(f'[data-id="step:{name}"]')


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
