"""One JupyterLab and one browser for all tests of the page; a tab of its own for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Error, Playwright, expect, sync_playwright

from tests.ui.jupyter_server import JupyterServer
from tests.ui.notebook_page import PATIENCE, NotebookPage

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NOT_FOUND = 404
OWN = {"127.0.0.1", ""}
"""Where requests may go: loopback, or nowhere (data: and blob:)."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    """JupyterLab, started once."""
    started = JupyterServer(tmp_path_factory.mktemp("jupyter"))
    yield started
    started.close()


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """The driver, of which a process has one."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(
    playwright: Playwright, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """The machine's Chromium with a fresh profile."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is on PATH")
    context = playwright.chromium.launch_persistent_context(
        tmp_path_factory.mktemp("profile"),
        executable_path=found,
        args=FLAGS,
        viewport={"width": 1300, "height": 1100},
    )
    yield context
    context.close()


@pytest.fixture
def notebook(browser: BrowserContext, server: JupyterServer) -> Iterator[NotebookPage]:
    """A tab that asks nobody but the server, for what is there, and in which no script fails."""
    page = browser.new_page()
    asked: set[str] = set()
    failures: list[Error] = []
    missing: list[str] = []
    page.on("request", lambda request: asked.add(urlsplit(request.url).hostname or ""))
    page.on("pageerror", lambda error: failures.append(error))  # noqa: PLW0108 - it sets attributes
    page.on("response", lambda got: missing.append(got.url) if got.status == NOT_FOUND else None)
    yield NotebookPage(page, server)
    page.close()
    assert asked - OWN == set()
    assert failures == []
    assert missing == []
