"""The HTTP job server as any client meets it: real sockets, hostile requests."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from dexnb.clock import Clock, ClockRefusal, monotonic, wall
from dexnb.errors import DefinitionError, DocumentError
from dexnb.jobs import Faults, HttpJobServer, JobScript
from dexnb.jobs.app import MOST_BODY

FOR_EVER = [(0.0, 1e9)]


@pytest.fixture
def server(state: Path) -> Iterator[HttpJobServer]:
    """Give a server whose jobs do not end by themselves."""
    with HttpJobServer(state, script=JobScript.endless()) as running:
        yield running


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpJobServer]:
    """Give one server to all tests that leave nothing behind."""
    with HttpJobServer(tmp_path_factory.mktemp("shared") / "jobs.jsonl") as running:
        yield running


@pytest.fixture
def client(server: HttpJobServer) -> Iterator[httpx.Client]:
    """Give a plain HTTP client of that server."""
    with httpx.Client(base_url=server.url, trust_env=False) as plain:
        yield plain


def raw(server: HttpJobServer, request: bytes) -> bytes:
    """Send bytes and give all that comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
        wire.sendall(request)
        wire.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: wire.recv(65_536), b""))


def error(response: httpx.Response) -> tuple[int, str]:
    """Give status and code of an error, which must be in JSON and say something."""
    problem = response.json()["error"]
    assert problem["message"]
    return response.status_code, problem["code"]


def test_the_endpoints_answer_plain_json(client: httpx.Client) -> None:
    """Create, status, complete, fail, list and health, with nothing but an HTTP client."""
    created = client.put("/jobs/a")
    assert created.status_code == 200
    assert created.json() == {"job_id": "a", "state": "QUEUED", "result": None, "error": None}
    failing = client.put("/jobs/b", json={"phases": [], "end": "FAILED", "error": "e"}).json()
    assert failing == {"job_id": "b", "state": "FAILED", "result": None, "error": "e"}
    assert client.get("/jobs/a").json() == created.json()
    assert client.post("/jobs/a/complete", json={"result": "r"}).json()["result"] == "r"
    client.put("/jobs/c")
    assert client.post("/jobs/c/fail", json={"error": "f"}).json()["error"] == "f"
    assert client.get("/healthz").json() == {"ok": True, "jobs": 3}
    listed: dict[str, Any] = {
        "jobs": [
            {"job_id": "a", "state": "SUCCEEDED", "calls": 2},
            {"job_id": "b", "state": "FAILED", "calls": 1},
            {"job_id": "c", "state": "FAILED", "calls": 1},
        ],
        "total": 3,
    }
    assert client.get("/jobs").json() == listed
    page = client.get("/jobs", params={"offset": 1, "limit": 1}).json()
    assert page == {"jobs": listed["jobs"][1:2], "total": 3}


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/jobs/no", (404, "no_job")),
        ("POST", "/jobs/no/complete", (404, "no_job")),
        ("PUT", "/jobs/", (400, "bad_request")),
        ("GET", "/jobs/", (400, "bad_request")),
        ("PUT", "/jobs/%FF", (400, "bad_request")),
        ("PUT", "/jobs/%ED%A0%80", (400, "bad_request")),
        ("PUT", "/jobs/" + "x" * 201, (400, "bad_request")),
        ("GET", "/jobs/" + "%F0%9F%92%A5" * 201, (400, "bad_request")),
        ("GET", "/jobs?limit=1001", (400, "bad_request")),
        ("GET", "/jobs?limit=-1", (400, "bad_request")),
        ("GET", "/jobs?offset=x", (400, "bad_request")),
        ("GET", "/jobs?offset=%C2%B2", (400, "bad_request")),
        ("GET", "/jobs?offset=" + "9" * 5_000, (400, "bad_request")),
        ("GET", "/", (404, "no_endpoint")),
        ("GET", "/jobs/a/b", (404, "no_endpoint")),
        ("POST", "/jobs/a/b/complete", (404, "no_endpoint")),
        ("GET", "/jobs/../healthz", (404, "no_endpoint")),
        ("DELETE", "/jobs/a", (405, "no_endpoint")),
        ("POST", "/jobs/a", (405, "no_endpoint")),
        ("GET", "/jobs/a/complete", (405, "no_endpoint")),
        ("OPTIONS", "/jobs/a", (405, "no_endpoint")),
    ],
)
def test_a_bad_request_gets_a_clear_error(
    shared: HttpJobServer, method: str, path: str, expected: tuple[int, str]
) -> None:
    """In JSON, with a code and a message; sent raw, so that no client tidies the path."""
    request = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    head, _, body = raw(shared, request.encode()).partition(b"\r\n\r\n")
    problem = json.loads(body)["error"]
    assert (int(head.split()[1]), problem["code"]) == expected
    assert 0 < len(problem["message"]) <= 500


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b"[]",
        b"3",
        b'"x"',
        b'{"phases":[["RUNNING",NaN]]}',
        b'{"phases":[["RUNNING",1e999]]}',
        b'{"phases":[["RUNNING",' + b"1" * 5_000 + b"]]}",
        b'{"phases":[["RUNNING",' + b"1" * 400 + b"]]}",
        b'{"result":"\\ud800"}',
        b'{"__class__":"os"}',
        b"[" * 200_000,
        b'{"a":' * 40_000,
    ],
)
def test_a_body_that_is_no_script_creates_nothing(shared: HttpJobServer, body: bytes) -> None:
    """Whatever it is, the server says so and goes on."""
    with httpx.Client(base_url=shared.url, trust_env=False) as client:
        assert error(client.put("/jobs/a", content=body)) == (400, "bad_request")
        assert error(client.get("/jobs/a")) == (404, "no_job")


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("complete", b"[]"),
        ("complete", b"0"),
        ("complete", b'{"result":3}'),
        ("complete", b'{"error":"x"}'),
        ("fail", b""),
        ("fail", b"{}"),
        ("fail", b'{"error":null}'),
        ("fail", b'{"error":"\\udcff"}'),
    ],
)
def test_a_body_that_is_no_ending_ends_nothing(
    shared: HttpJobServer, action: str, body: bytes
) -> None:
    """The job runs on."""
    with httpx.Client(base_url=shared.url, trust_env=False) as client:
        client.put("/jobs/endless", json={"end": None})
        ended = client.post(f"/jobs/endless/{action}", content=body)
        assert error(ended) == (400, "bad_request")
        assert client.get("/jobs/endless").json()["result"] is None


def test_a_body_over_the_limit_is_refused_however_it_is_sent(client: httpx.Client) -> None:
    """With its length told beforehand or in chunks; the largest script still fits."""
    assert error(client.put("/jobs/a", content=b" " * (MOST_BODY + 1))) == (413, "too_large")
    chunks = (b" " * 10_000 for _ in range(60))
    assert error(client.put("/jobs/a", content=chunks)) == (413, "too_large")
    largest = JobScript(
        JobScript.flapping(1.2345678901234567, 499).phases,
        result="\U0001f4a5" * 16_000,
        error="\U0001f4a5" * 16_000,
    )
    text = json.dumps(largest.to_json())
    assert MOST_BODY > len(text) > MOST_BODY * 0.75
    assert client.put("/jobs/a", content=text).status_code == 200
    assert client.post("/jobs/a/complete").json()["result"] == largest.result


def test_conflicts_are_told(client: httpx.Client) -> None:
    """Another script, the opposite ending."""
    client.put("/jobs/a")
    assert error(client.put("/jobs/a", json={})) == (409, "conflict")
    client.post("/jobs/a/complete")
    assert error(client.post("/jobs/a/fail", json={"error": "e"})) == (409, "conflict")


def test_a_web_page_is_kept_out(client: httpx.Client) -> None:
    """Neither a cross-site request nor a host name that was pointed here reaches a job."""
    client.put("/jobs/a")
    for headers in (
        {"Origin": "https://example.com"},
        {"Origin": "null"},
        {"Host": "example.com"},
        {"Host": "127.0.0.1.example.com"},
        {"Host": ""},
    ):
        assert error(client.post("/jobs/a/complete", headers=headers)) == (403, "forbidden")
    for host in ("localhost", "localhost:80", "127.0.0.1", "[::1]:80", "LOCALHOST"):
        assert client.get("/jobs/a", headers={"Host": host}).status_code == 200


def test_a_rate_limited_call_is_told_in_the_header_too(state: Path) -> None:
    """In whole seconds there, exactly in the body."""
    with HttpJobServer(state, faults=Faults(rate_limit=0.01)) as server:
        httpx.put(f"{server.url}/jobs/a", trust_env=False)
        limited = httpx.get(f"{server.url}/jobs/a", trust_env=False)
        assert error(limited) == (429, "rate_limited")
        exact = limited.json()["error"]["retry_after"]
        assert 0 < exact <= int(limited.headers["retry-after"]) < exact + 1 <= 101


def test_a_reset_is_a_reset_on_the_wire(state: Path) -> None:
    """Not an orderly end: the reader gets ECONNRESET, and the job is there."""
    with HttpJobServer(state, faults=Faults(reset_rate=1)) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
            wire.sendall(b"PUT /jobs/a HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with pytest.raises(ConnectionResetError):
                wire.recv(1)
        listed = httpx.get(f"{server.url}/jobs", trust_env=False).json()
        assert listed["jobs"] == [{"job_id": "a", "state": "QUEUED", "calls": 1}]


def test_garbage_and_half_requests_leave_the_server_running(
    server: HttpJobServer, client: httpx.Client
) -> None:
    """Including connections that are reset in the middle."""
    assert raw(server, b"\x00\x01garbage\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(server, b"GET /jobs/" + b"x" * 100_000).startswith(b"HTTP/1.1 400")
    for part in (
        b"PUT /jo",
        b"PUT /jobs/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as wire:
            wire.sendall(part)
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert client.get("/healthz").json() == {"ok": True, "jobs": 0}


@pytest.mark.timing
def test_it_stops_within_a_second_whatever_is_under_way(state: Path) -> None:
    """Calls that hang, slow answers, half a request and an idle connection are cut."""
    faults = Faults(hang_windows=FOR_EVER, latency=0.2)
    slow = b"PUT /jobs/%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with HttpJobServer(state, faults=faults) as server:
        wires = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(12)]
        for number, wire in enumerate(wires[:5]):
            wire.sendall(slow % number)
            assert wire.recv(1_000).startswith(b"HTTP/1.1 200")
            wire.sendall(slow % number)
        for wire in wires[5:8]:
            wire.sendall(b"PUT /jobs/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n{")
        start = monotonic()
        server.stop()
        assert monotonic() - start < 1
        server.stop()
    for wire in wires:
        wire.close()


def test_an_answer_under_way_is_given_before_the_stop(state: Path) -> None:
    """A latency within the grace is not cut."""
    with HttpJobServer(state, faults=Faults(latency=0.1)) as server:
        wire = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        wire.sendall(b"PUT /jobs/a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while not server.calls("a"):
            pass
    with wire:
        assert wire.recv(1_000).startswith(b"HTTP/1.1 200")


def test_started_again_it_keeps_its_port_and_its_jobs(state: Path) -> None:
    """Clients need not be told; call numbers begin anew."""
    server = HttpJobServer(state, script=JobScript.endless())
    with server:
        url = server.url
        httpx.put(f"{url}/jobs/a", trust_env=False)
        httpx.put(f"{url}/jobs/b", trust_env=False)
        done = httpx.post(f"{url}/jobs/a/complete", json={"result": "r"}, trust_env=False).json()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/jobs/a", trust_env=False)
    server.start()
    server.start()
    with server:
        assert server.url == url
        assert httpx.get(f"{url}/jobs/a", trust_env=False).json() == done
        assert httpx.get(f"{url}/jobs/b", trust_env=False).json()["state"] == "QUEUED"
        assert (server.calls("a"), server.calls("b"), server.calls("c")) == (1, 1, 0)


def test_a_job_that_began_a_minute_ago_goes_on_where_it_is_now(state: Path) -> None:
    """Start times are wall times, so jobs go on while no server runs."""
    lines: list[dict[str, Any]] = [{"dexnb_jobs": 1}]
    for age in (1, 4, 60, -3_600):
        script = JobScript(JobScript().phases, result=str(age)).to_json()
        at = wall() - age
        lines.append({"kind": "created", "job_id": f"{age}", "at": at, "script": script})
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    state.write_text(text, encoding="ascii")
    with HttpJobServer(state, script=JobScript.failing()) as server:
        states = {
            age: httpx.get(f"{server.url}/jobs/{age}", trust_env=False).json()["state"]
            for age in ("4", "60", "-3600")
        }
    assert states == {"4": "RUNNING", "60": "SUCCEEDED", "-3600": "QUEUED"}
    assert state.read_text(encoding="ascii") == text


def test_the_state_file_is_private_and_belongs_to_one_server(state: Path) -> None:
    """Mode 0600, and a second server says who has it."""
    with HttpJobServer(state):
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        with pytest.raises(DefinitionError, match="in use by another job server"):
            HttpJobServer(state).start()


def test_a_full_state_file_refuses_new_jobs_and_serves_the_old(state: Path) -> None:
    """Memory is bounded with it."""
    with HttpJobServer(state, most_bytes=400) as server:
        answers = [httpx.put(f"{server.url}/jobs/{n}", trust_env=False) for n in range(5)]
        codes = [answer.status_code for answer in answers]
        assert codes == sorted(codes)
        assert {codes[0], codes[-1]} == {200, 413}
        assert httpx.get(f"{server.url}/jobs/0", trust_env=False).status_code == 200
    assert state.stat().st_size <= 400


def test_what_cannot_be_served_is_refused_before_anything_runs(state: Path) -> None:
    """A taken port, no address, no port, a file of something else; the file is free again."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DefinitionError, match=f"127.0.0.1:{port}.*cannot be bound"):
            HttpJobServer(state, port=port).start()
    with pytest.raises(DefinitionError, match="host is 'no such host'"):
        HttpJobServer(state, host="no such host").start()
    with pytest.raises(DefinitionError, match="port is 65536"):
        HttpJobServer(state, port=65_536).start()
    HttpJobServer(state).stop()
    with HttpJobServer(state):
        pass
    state.write_text("notes\n", encoding="ascii")
    with pytest.raises(DocumentError, match="not the state of a job server"):
        HttpJobServer(state).start()


def test_it_binds_loopback_unless_told_otherwise(state: Path) -> None:
    """And on all addresses its URL is still one that can be called."""
    with HttpJobServer(state) as server:
        assert server.url.startswith("http://127.0.0.1:")
    with HttpJobServer(state, host="0.0.0.0") as server:  # noqa: S104 - the case under test
        assert server.url.startswith("http://127.0.0.1:")
        anybody = httpx.get(f"{server.url}/healthz", headers={"Host": "x"}, trust_env=False)
        assert anybody.status_code == 200


@pytest.mark.skipif(not socket.has_ipv6, reason="this Python has no IPv6")
def test_it_serves_ipv6(state: Path) -> None:
    """The URL has the brackets."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with HttpJobServer(state, host="::1") as server:
        assert httpx.put(f"{server.url}/jobs/a", trust_env=False).status_code == 200


def test_serving_on_a_virtual_loop_is_refused(state: Path) -> None:
    """Real sockets cannot follow such a clock; the text says what to do."""
    with pytest.raises(ClockRefusal, match="HttpJobServer cannot follow the virtual clock"):
        Clock.virtual().run(HttpJobServer(state).serve(lambda: None))


def test_a_server_that_is_never_stopped_does_not_hold_up_the_end(state: Path) -> None:
    """The process ends at once and says nothing."""
    code = (
        "import sys, httpx\n"
        "from dexnb.jobs import HttpJobServer\n"
        "server = HttpJobServer(sys.argv[1])\n"
        "server.start()\n"
        "print(httpx.put(server.url + '/jobs/a', trust_env=False).status_code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, os.fspath(state)],
        cwd=Path(__file__).parents[2],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "200\n", "")
