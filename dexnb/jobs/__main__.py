"""`python -m dexnb.jobs`: a job server as a process of its own; prints its URL when ready."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any

from dexnb.errors import DexnbError
from dexnb.jobs.faults import Faults
from dexnb.jobs.fields import refuse
from dexnb.jobs.script import JobScript
from dexnb.jobs.server import HttpJobServer


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until a signal comes; give the exit code, 2 for options that cannot hold."""
    options = _parser().parse_args(arguments)
    try:
        server = HttpJobServer(
            options.state,
            options.host,
            options.port,
            script=JobScript.from_json(_json("--script", options.script)),
            faults=Faults.from_json(_json("--faults", options.faults)),
        )
        asyncio.run(server.serve(lambda: _say(server.url)))
    except DexnbError as error:
        sys.stderr.write(f"dexnb.jobs: {error}\n")
        return 2
    except KeyboardInterrupt:
        pass
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m dexnb.jobs",
        description="Serve external jobs over HTTP; the URL is printed when calls are accepted.",
    )
    parser.add_argument("--state", required=True, help="file that keeps the jobs (mode 0600)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port; 0 picks a free one")
    parser.add_argument("--script", default="{}", help="JobScript as JSON")
    parser.add_argument("--faults", default="{}", help="Faults as JSON")
    return parser


def _json(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refuse(option, text, f"give a JSON object ({error})") from error


if __name__ == "__main__":
    sys.exit(main())
