"""A real JupyterLab on loopback, with folders of its own."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx

PATIENCE = 60.0
NEWS = "@jupyterlab/apputils-extension:announcements"
"""Asks in a corner of the page whether it may fetch news."""


class JupyterServer:
    """One server process, ended by its id.

    Args:
        folder: Holds its notebooks, settings and runtime files.
    """

    def __init__(self, folder: Path) -> None:
        """Start it and wait until it answers."""
        self.root = folder / "root"
        self.root.mkdir()
        self.token = secrets.token_hex(16)
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        names = {"CONFIG": "config", "DATA": "data", "RUNTIME": "runtime"}
        places = {f"JUPYTER_{name}_DIR": str(folder / place) for name, place in names.items()}
        settings = folder / "config/labconfig/page_config.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"disabledExtensions": {NEWS: True}}), "utf-8")
        self._log = (folder / "server.log").open("wb")
        self.process = subprocess.Popen(
            self._command(),
            env={**os.environ, **places, "IPYTHONDIR": str(folder / "ipython")},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._wait(folder / "server.log")

    def link(self, name: str) -> str:
        """Give the address of a notebook in a fresh workspace."""
        return f"{self.address}/lab/tree/{name}?reset&token={self.token}"

    def close(self) -> None:
        """End it, and with it its kernels."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"),
            *("--ip=127.0.0.1", f"--port={self.port}", "--ServerApp.port_retries=0"),
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            "--LabApp.expose_app_in_browser=True",
        ]

    def _wait(self, log: Path) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.address}/api", timeout=5).is_success:
                    return
            time.sleep(0.1)
        raise AssertionError(f"JupyterLab did not start: {log.read_text('utf-8')[-4000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
