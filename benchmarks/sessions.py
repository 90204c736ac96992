"""Authentication: the service's sessions, Django's own, and bare WSGI."""

import statistics
from http.cookies import SimpleCookie

from redis import Redis

from benchmarks.client import Client, Target, get_json
from benchmarks.environment import (
    BASELINE,
    BASELINE_COMMAND,
    TRIVIAL_PATH,
    WSGI_COMMAND,
    BenchmarkEnvironment,
)
from benchmarks.report import Row, bounded, compare, compare_loads

NAME = "sessions"
# Least ratio of requests a second.
MIN_RATES = {"cached_db": 3, "cached_db_slide": 6, "bare WSGI": 0.2}
REPEATS = 60


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    member = environment.spec.typical_member
    subjects = {"service": environment.service_target(TRIVIAL_PATH, member)}
    backends = [name for name in MIN_RATES if name.startswith("cached_db")]
    for backend in backends:
        settings = BASELINE | {"BASELINE_SESSIONS": backend}
        environment.manage("migrate", "sessions", "--verbosity", "0", **settings)
        port = environment.serve(backend, BASELINE_COMMAND, **settings)
        headers = {"Cookie": f"sessionid={log_in(port, member)}"}
        subjects[backend] = Target(port, "/session", headers)
    subjects["bare WSGI"] = environment.peer_target(
        "wsgi", WSGI_COMMAND, "/session", member
    )
    # Times are written in different ways.
    bodies = [get_json(each) | {"planExpiresAt": None} for each in subjects.values()]
    if any(body != bodies[0] for body in bodies):
        raise AssertionError(f"the subjects respond differently: {bodies}")
    return [
        *measure_load(environment, subjects),
        *measure_cache(environment, subjects["service"], subjects["cached_db"]),
    ]


def log_in(port: int, member: int) -> str:
    target = Target(port, f"/login/{member}", {})
    cookies = SimpleCookie("; ".join(Client(target).send(target).cookies))
    return cookies["sessionid"].value


def measure_load(
    environment: BenchmarkEnvironment, subjects: dict[str, Target]
) -> list[Row]:
    loads = environment.load({name: [target] for name, target in subjects.items()})
    rows = [
        (f"service : {peer}, requests/s", "service", peer, minimum)
        for peer, minimum in MIN_RATES.items()
    ]
    own, baseline = (
        statistics.median(run.p99 for run in loads[name])
        for name in ("service", "cached_db")
    )
    return [
        *compare_loads(NAME, loads, rows),
        bounded(NAME, "service : cached_db, p99", "", own / baseline, 1),
    ]


def measure_cache(
    environment: BenchmarkEnvironment, service: Target, baseline: Target
) -> list[Row]:
    """Before a miss, Valkey is flushed."""
    calls = {
        f"{name} {kind}": Client(target)
        for name, target in (("service", service), ("baseline", baseline))
        for kind in ("hit", "miss")
    }

    def set_up(name: str) -> None:
        if name.endswith("miss"):
            valkey.flushdb()
        else:
            calls[name]()

    with Redis.from_url(environment.valkey_url) as valkey:
        times = environment.time(calls, REPEATS, set_up)
    return compare(
        NAME,
        times,
        [
            (f"service miss : {other}", "service miss", [other], maximum)
            for other, maximum in (("service hit", 2.0), ("baseline miss", 0.6))
        ],
    )
