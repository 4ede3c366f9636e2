"""`Gate`: what every HTTP request passes before it is routed."""

from __future__ import annotations

from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dexnb.jobs.wire import document


class Gate:
    """Keeps web pages out, and lets paths be routed as they were sent.

    A page in a browser could reach a loopback server by plain requests (which carry an Origin)
    or under a host name that was pointed at 127.0.0.1, so both are refused. Routing sees the
    path still quoted: an id may hold a slash, a dot-dot or a line break and stays one segment.

    Args:
        app: What comes after.
        local_only: Whether the server listens on loopback alone.
    """

    def __init__(self, app: ASGIApp, *, local_only: bool) -> None:
        """Stand before `app`."""
        self._app = app
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            response = JSONResponse(document("forbidden", refusal), 403)
            await response(scope, receive, send)
            return
        quoted = scope["raw_path"].decode("latin-1")
        await self._app({**scope, "path": quoted}, receive, send)

    def _refusal(self, headers: Headers) -> str | None:
        if "origin" in headers:
            return "this server does not serve web pages; call it without an Origin header"
        if self._local_only and not is_loopback(_host(headers.get("host", ""))):
            return "this server listens on loopback; address it as 127.0.0.1 or localhost"
        return None


def is_loopback(host: str) -> bool:
    """Tell whether a host name or address means this machine and nothing else."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _host(authority: str) -> str:
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]
