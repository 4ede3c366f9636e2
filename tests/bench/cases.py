"""The cases of the bench, with their floors."""

from __future__ import annotations

from tests.bench.case import Case, Goal, Program

IN_FLIGHT = 1000
RATES = ("rate", "cpu_us", "fsyncs")


def cases(*, quick: bool = False) -> list[Case]:
    """Give all of them; `quick` ones are a tenth of the size and prove only that they run."""
    size = 0.1 if quick else 1.0
    return [
        _flows(size),
        _long_flows(size),
        _idle_latency(size),
        _heartbeats(size),
        _rounds(size),
        _pollers(size),
        _busy_cell(size),
        _slow_disk(size),
        _idle_cpu(size),
        _killed(size),
    ]


def _dexnb(flows: int, steps: int, in_flight: int = IN_FLIGHT, fsync_ms: float = 0.0) -> Program:
    asked = {"flows": flows, "steps": steps, "in_flight": min(in_flight, flows)}
    return Program("dexnb", "dexnb", "dexnb_flows", asked, fsync_ms)


def _dbos(flows: int, steps: int, *, fsync_ms: float = 0.0) -> tuple[Program, Program]:
    """Give dbos in both shapes: which is faster depends on the machine."""
    one = {"flows": flows, "steps": steps, "in_flight": 1}
    many = {"flows": flows, "steps": steps, "in_flight": flows}
    return (
        Program("dbos, one at a time", "dbos", "dbos_flows", one, fsync_ms),
        Program("dbos, all in flight", "dbos", "dbos_flows", many, fsync_ms),
    )


BOTH_DBOS = ("dbos, one at a time", "dbos, all in flight")


def _flows(size: float) -> Case:
    count = int(IN_FLIGHT * size)
    duroxide = {"flows": count, "steps": 1, "in_flight": count}
    return Case(
        "flows",
        "1-step flows/s, 1,000 in flight",
        RATES,
        (
            Program("raw commits", "dexnb", "raw_commits", {"commits": count}),
            _dexnb(5 * count, 1, count),
            *_dbos(count, 1),
            Program("duroxide", "duroxide", "duroxide_flows", duroxide),
        ),
        (
            Goal("dexnb : best dbos", "dexnb", "rate", 30, BOTH_DBOS),
            Goal("dexnb : duroxide", "dexnb", "rate", 30, ("duroxide",)),
        ),
    )


def _long_flows(size: float) -> Case:
    count = int(IN_FLIGHT * size)
    return Case(
        "long-flows",
        "5-step flows/s, 1,000 in flight",
        RATES,
        (_dexnb(2 * count, 5, count), *_dbos(count // 2, 5)),
        (Goal("dexnb : best dbos", "dexnb", "rate", 40, BOTH_DBOS),),
    )


def _idle_latency(size: float) -> Case:
    asked = {"flows": int(200 * size), "steps": 1, "in_flight": 1}
    few = asked | {"flows": max(5, int(40 * size))}
    return Case(
        "idle-latency",
        "start to complete of a 1-step flow, idle",
        ("p50_ms", "p99_ms", "cpu_us", "fsyncs"),
        (
            _dexnb(int(200 * size), 1, 1),
            Program("dbos", "dbos", "dbos_flows", asked),
            Program("duroxide", "duroxide", "duroxide_flows", few),
        ),
        (
            Goal("p50, dexnb : dbos", "dexnb", "p50_ms", 0.7, ("dbos",), less_is_better=True),
            Goal(
                "p50, dexnb : duroxide",
                "dexnb",
                "p50_ms",
                1 / 80,
                ("duroxide",),
                less_is_better=True,
            ),
        ),
    )


def _heartbeats(size: float) -> Case:
    pollers = {"pollers": IN_FLIGHT, "interval": 0, "seconds": max(1.0, 4 * size)}
    tasks = {"tasks": IN_FLIGHT, "beats": int(100_000 * size)}
    return Case(
        "heartbeats",
        "durable heartbeats/s without sleeping, WAL and NORMAL",
        ("rate", "stored_rate", "cpu_us", "stored_cpu_us"),
        (
            Program("raw executemany", "dexnb", "raw_beats", {"beats": int(400_000 * size)}),
            Program("provider alone", "dexnb", "provider_beats", tasks),
            Program("dexnb", "dexnb", "dexnb_rounds", pollers),
        ),
        (
            Goal("stored, dexnb : raw", "dexnb", "stored_rate", 0.15, ("raw executemany",), "rate"),
            Goal("provider alone : raw", "provider alone", "rate", 0.15, ("raw executemany",)),
        ),
    )


def _rounds(size: float) -> Case:
    pollers = {"pollers": IN_FLIGHT, "interval": 0.02, "seconds": max(1.0, 4 * size)}
    dbos = {"pollers": 20, "rounds": max(3, int(25 * size)), "interval": 0.02}
    return Case(
        "rounds",
        "poll rounds/s",
        ("rate", "cpu_us", "cores"),
        (
            Program("bare loop", "dexnb", "bare_rounds", pollers),
            Program("dexnb", "dexnb", "dexnb_rounds", pollers),
            Program("dbos", "dbos", "dbos_rounds", dbos),
        ),
        (
            Goal("dexnb : bare loop", "dexnb", "rate", 0.5, ("bare loop",)),
            Goal("dexnb : dbos", "dexnb", "rate", 100, ("dbos",)),
        ),
    )


def _pollers(size: float) -> Case:
    asked = {"pollers": int(20_000 * size), "interval": 2.0, "seconds": 10.0 * max(0.4, size)}
    return Case(
        "pollers",
        "20,000 pollers at 2 s",
        ("rate", "share", "cores", "lag_p50_ms", "lag_p99_ms", "kb_each"),
        (Program("dexnb", "dexnb", "dexnb_pollers", {**asked, "burden": "none"}),),
        (
            Goal("cores", "dexnb", "cores", 1.0, less_is_better=True),
            Goal("lag p99, ms", "dexnb", "lag_p99_ms", 300, less_is_better=True),
            Goal("kB each", "dexnb", "kb_each", 8, less_is_better=True),
        ),
    )


def _busy_cell(size: float) -> Case:
    asked = {"pollers": int(1000 * size), "interval": 0.5, "seconds": max(2.0, 8.0 * size)}
    return Case(
        "busy-cell",
        "1,000 pollers at 0.5 s beside a busy pure-Python cell",
        ("rate", "share", "lag_p50_ms", "lag_p99_ms"),
        (Program("dexnb", "dexnb", "dexnb_pollers", {**asked, "burden": "compute"}),),
        (
            Goal("share of heartbeats", "dexnb", "share", 0.95),
            Goal("lag p99, ms", "dexnb", "lag_p99_ms", 30, less_is_better=True),
        ),
    )


def _slow_disk(size: float) -> Case:
    count = int(IN_FLIGHT * size)
    return Case(
        "slow-disk",
        "1-step flows/s, each fsync 4 ms longer",
        RATES,
        (_dexnb(5 * count, 1, count, 4.0), *_dbos(max(20, int(300 * size)), 1, fsync_ms=4.0)),
        (Goal("dexnb : best dbos", "dexnb", "rate", 100, BOTH_DBOS),),
        needs_shim=True,
    )


def _idle_cpu(size: float) -> Case:
    asked = {"seconds": max(2.0, 10 * size)}
    return Case(
        "idle-cpu",
        "CPU of an engine without work, a second",
        ("cpu_us",),
        (
            Program("dexnb", "dexnb", "dexnb_idle", asked),
            Program("duroxide", "duroxide", "duroxide_idle", asked),
        ),
        (Goal("dexnb : duroxide", "dexnb", "cpu_us", 1 / 20, ("duroxide",), less_is_better=True),),
    )


def _killed(size: float) -> Case:
    flows = int(IN_FLIGHT * size)
    asked, killed = {"flows": flows, "role": "resume"}, {"flows": flows, "role": "fill"}
    return Case(
        "kill",
        "kill -9 with 1,000 flows in flight, seconds until all have ended",
        ("seconds", "rate"),
        (
            Program("dexnb", "dexnb", "dexnb_kill", asked, killed=killed),
            Program("dbos", "dbos", "dbos_kill", asked, killed=killed),
        ),
        (Goal("dexnb : dbos", "dexnb", "seconds", 1 / 40, ("dbos",), less_is_better=True),),
    )
