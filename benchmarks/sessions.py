"""The cost of authentication: our sessions, Django's stock ones, and Starlette."""

import json

from redis import Redis

from benchmarks.client import Client, time_interleaved
from benchmarks.environment import TRIVIAL_PATH, BenchmarkEnvironment
from benchmarks.load import load_interleaved
from benchmarks.report import Row, format_milliseconds, max_ratio_row, min_ratio_row

NAME = "sessions"
PATH, PEER_PATH = TRIVIAL_PATH, "/session"
BASELINE_BACKENDS = ("cached_db", "cached_db_slide", "cache")
LOAD_DURATION_SECONDS = 3
REPEATS = 60


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    return [
        *measure_load(environment, rounds),
        *measure_session_cache(environment, rounds),
    ]


def measure_load(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Measure eight connections at once, with all sessions cached."""
    member = environment.spec.typical_member
    targets = {"service": environment.service_target(PATH, member)}
    targets |= {
        backend: environment.baseline_target(PEER_PATH, member, backend)
        for backend in BASELINE_BACKENDS
    }
    targets["starlette"] = environment.starlette_target(PEER_PATH, member)
    bodies = [json.loads(Client(target)()) for target in targets.values()]
    if any(body != bodies[0] for body in bodies):
        raise AssertionError(f"the subjects respond differently: {bodies}")
    loads = load_interleaved(targets, rounds, LOAD_DURATION_SECONDS)
    service, baseline = loads["service"], loads["cached_db"]
    return [
        Row(NAME, "ours, authenticated trivial GET, 8 connections", service.summary()),
        min_ratio_row(
            NAME,
            "ours : cached_db",
            baseline.summary(),
            service.ratio_to(baseline),
            3.0,
        ),
        min_ratio_row(
            NAME,
            "ours : cached_db with sliding lifetime",
            loads["cached_db_slide"].summary(),
            service.ratio_to(loads["cached_db_slide"]),
            6.0,
        ),
        Row(
            NAME,
            "ours : cache",
            loads["cache"].summary(),
            service.ratio_to(loads["cache"]),
        ),
        # T of this checkout: a faster one is better here.
        min_ratio_row(
            NAME,
            "T : Starlette, requests/s at 8 connections",
            loads["starlette"].summary(),
            service.ratio_to(loads["starlette"]),
            0.5,
        ),
        max_ratio_row(
            NAME, "p99, ours : cached_db", "", service.p99 / baseline.p99, 1.0
        ),
    ]


def measure_session_cache(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Time hits and misses of one client; before a miss, Valkey is flushed."""
    valkey = Redis.from_url(environment.valkey.url)
    member = environment.spec.typical_member
    service = Client(environment.service_target(PATH, member))
    baseline = Client(environment.baseline_target(PEER_PATH, member))
    calls = {
        "service hit": service,
        "service miss": service,
        "baseline hit": baseline,
        "baseline miss": baseline,
    }

    def set_up(name: str) -> None:
        if name.endswith("miss"):
            valkey.flushdb()
        else:
            calls[name]()

    times = time_interleaved(calls, rounds, REPEATS, set_up)
    hit, miss = times["service hit"], times["service miss"]
    level = f"{format_milliseconds(miss.median)} : {format_milliseconds(hit.median)}"
    baseline_level = format_milliseconds(times["baseline miss"].median)
    return [
        max_ratio_row(
            NAME, "cache: our miss : our hit", level, miss.ratio_to(hit), 2.0
        ),
        max_ratio_row(
            NAME,
            "cache: our miss : cached_db's miss",
            baseline_level,
            miss.ratio_to(times["baseline miss"]),
            0.6,
        ),
        Row(
            NAME,
            "our hit : cached_db's hit, one client",
            format_milliseconds(times["baseline hit"].median),
            hit.ratio_to(times["baseline hit"]),
        ),
    ]
