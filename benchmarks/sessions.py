"""What it costs to know who asks: ours beside Django's stock sessions."""

import json

from redis import Redis

from benchmarks.client import Client, time_in_turn
from benchmarks.environment import Stage
from benchmarks.load import load_in_turn
from benchmarks.report import Row, at_least, at_most, milliseconds

NAME = "sessions"
PATH, PEER_PATH = "/api/auth/session", "/session"
PEERS = ("cached_db", "cached_db_slide", "cache")
SECONDS = 3
REPEATS = 60


def measure(stage: Stage, rounds: int) -> list[Row]:
    return [*measure_load(stage, rounds), *measure_mirror(stage, rounds)]


def measure_load(stage: Stage, rounds: int) -> list[Row]:
    """Eight connections at once, the fast store full."""
    member = stage.shape.plain
    targets = {"ours": stage.ask_ours(PATH, member)}
    targets |= {kind: stage.ask_peer(PEER_PATH, member, kind) for kind in PEERS}
    bodies = [json.loads(Client(target)()) for target in targets.values()]
    if any(body != bodies[0] for body in bodies):
        raise AssertionError(f"the contenders answer differently: {bodies}")
    loads = load_in_turn(targets, rounds, SECONDS)
    ours, peer = loads["ours"], loads["cached_db"]
    to_cache = ours.to(loads["cache"])
    return [
        Row(NAME, "ours, authenticated trivial GET, 8 connections", ours.describe()),
        at_least(NAME, "ours : cached_db", peer.describe(), ours.to(peer), 1.8),
        at_least(
            NAME,
            "ours : cached_db with sliding lifetime",
            loads["cached_db_slide"].describe(),
            ours.to(loads["cached_db_slide"]),
            3.5,
        ),
        Row(NAME, "ours : cache", loads["cache"].describe(), to_cache),
        at_most(NAME, "p99, ours : cached_db", "", ours.p99 / peer.p99, 1.0),
    ]


def measure_mirror(stage: Stage, rounds: int) -> list[Row]:
    """One client; for a miss the fast store is emptied before each request."""
    store = Redis.from_url(stage.fast_store.address)
    member = stage.shape.plain
    ours = Client(stage.ask_ours(PATH, member))
    peer = Client(stage.ask_peer(PEER_PATH, member))
    calls = {"ours hit": ours, "ours miss": ours, "peer hit": peer, "peer miss": peer}

    def set_up(name: str) -> None:
        if name.endswith("miss"):
            store.flushdb()
        else:
            calls[name]()

    times = time_in_turn(calls, rounds, REPEATS, set_up)
    hit, miss = times["ours hit"], times["ours miss"]
    level = f"{milliseconds(miss.median)} : {milliseconds(hit.median)}"
    peer_level = milliseconds(times["peer miss"].median)
    return [
        at_most(NAME, "mirror: our miss : our hit", level, miss.to(hit), 2.0),
        at_most(
            NAME,
            "mirror: our miss : cached_db's miss",
            peer_level,
            miss.to(times["peer miss"]),
            0.6,
        ),
        Row(
            NAME,
            "our hit : cached_db's hit, one client",
            milliseconds(times["peer hit"].median),
            hit.to(times["peer hit"]),
        ),
    ]
