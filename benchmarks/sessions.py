"""What it costs to know who asks: ours beside Django's stock sessions."""

import json

from redis import Redis

from benchmarks.client import Client, time_interleaved
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.load import load_interleaved
from benchmarks.report import Row, format_milliseconds, max_ratio_row, min_ratio_row

NAME = "sessions"
PATH, BASELINE_PATH = "/api/auth/session", "/session"
BASELINE_BACKENDS = ("cached_db", "cached_db_slide", "cache")
LOAD_DURATION_SECONDS = 3
REPEATS = 60


def measure(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    return [*measure_load(stage, rounds), *measure_session_cache(stage, rounds)]


def measure_load(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Eight connections at once, the fast store full."""
    member = stage.dataset_spec.typical_member
    targets = {"ours": stage.service_target(PATH, member)}
    targets |= {
        kind: stage.baseline_target(BASELINE_PATH, member, kind)
        for kind in BASELINE_BACKENDS
    }
    bodies = [json.loads(Client(target)()) for target in targets.values()]
    if any(body != bodies[0] for body in bodies):
        raise AssertionError(f"the contenders answer differently: {bodies}")
    loads = load_interleaved(targets, rounds, LOAD_DURATION_SECONDS)
    ours, peer = loads["ours"], loads["cached_db"]
    to_cache = ours.ratio_to(loads["cache"])
    return [
        Row(NAME, "ours, authenticated trivial GET, 8 connections", ours.summary()),
        min_ratio_row(
            NAME, "ours : cached_db", peer.summary(), ours.ratio_to(peer), 1.8
        ),
        min_ratio_row(
            NAME,
            "ours : cached_db with sliding lifetime",
            loads["cached_db_slide"].summary(),
            ours.ratio_to(loads["cached_db_slide"]),
            3.5,
        ),
        Row(NAME, "ours : cache", loads["cache"].summary(), to_cache),
        max_ratio_row(NAME, "p99, ours : cached_db", "", ours.p99 / peer.p99, 1.0),
    ]


def measure_session_cache(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """One client; for a miss the fast store is emptied before each request."""
    store = Redis.from_url(stage.fast_store.address)
    member = stage.dataset_spec.typical_member
    ours = Client(stage.service_target(PATH, member))
    peer = Client(stage.baseline_target(BASELINE_PATH, member))
    calls = {"ours hit": ours, "ours miss": ours, "peer hit": peer, "peer miss": peer}

    def set_up(name: str) -> None:
        if name.endswith("miss"):
            store.flushdb()
        else:
            calls[name]()

    times = time_interleaved(calls, rounds, REPEATS, set_up)
    hit, miss = times["ours hit"], times["ours miss"]
    level = f"{format_milliseconds(miss.median)} : {format_milliseconds(hit.median)}"
    peer_level = format_milliseconds(times["peer miss"].median)
    return [
        max_ratio_row(
            NAME, "mirror: our miss : our hit", level, miss.ratio_to(hit), 2.0
        ),
        max_ratio_row(
            NAME,
            "mirror: our miss : cached_db's miss",
            peer_level,
            miss.ratio_to(times["peer miss"]),
            0.6,
        ),
        Row(
            NAME,
            "our hit : cached_db's hit, one client",
            format_milliseconds(times["peer hit"].median),
            hit.ratio_to(times["peer hit"]),
        ),
    ]
