"""Workers of the web server that are silent, and how they are replaced."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import heartbeats
from core.heartbeats import MAX_SILENCE_SECONDS, Heartbeats, Watch
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer

START = """
from core import heartbeats
heartbeats.INTERVAL_SECONDS, heartbeats.MAX_SILENCE_SECONDS = 0.1, 0.8
"""


class Clock:
    now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(heartbeats, "time", clock)
    return clock


def test_worker_is_silent_after_ten_seconds_without_a_beat(clock: Clock) -> None:
    beats = Heartbeats(2)
    watch = Watch(beats)
    for number in range(2):
        beats.beat(number)
    silent = []
    for _ in range(int(MAX_SILENCE_SECONDS) + 1):
        clock.now += 1.0
        beats.beat(0)
        silent.append(watch.list_silent(range(2)))
    assert silent == [[]] * int(MAX_SILENCE_SECONDS) + [[1]]


def test_pause_of_the_whole_machine_is_no_silence(clock: Clock) -> None:
    beats = Heartbeats(1)
    watch = Watch(beats)
    beats.beat(0)
    clock.now += 3_600.0
    assert watch.list_silent([0]) == []
    clock.now += 1.0
    assert watch.list_silent([0]) == []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebServer]:
    running = WebServer(tmp_path / "log", START)
    try:
        yield running
    finally:
        running.stop()


def test_stopped_worker_is_replaced(server: WebServer) -> None:
    worker = int(server.send("GET", "/pid")[1])
    os.kill(worker, signal.SIGSTOP)
    wait_until(lambda: not Path(f"/proc/{worker}").exists())
    assert int(server.send("GET", "/pid")[1]) != worker


def test_worker_whose_event_loop_hangs_is_replaced(server: WebServer) -> None:
    worker = int(server.send("GET", "/pid")[1])
    assert server.send("GET", "/block")[0] == 200
    wait_until(lambda: not Path(f"/proc/{worker}").exists())
    assert int(server.send("GET", "/pid")[1]) != worker


def test_worker_that_answers_is_left_alone(server: WebServer) -> None:
    worker = int(server.send("GET", "/pid")[1])
    with pytest.raises(AssertionError, match="timeout"):
        wait_until(lambda: not Path(f"/proc/{worker}").exists(), timeout_seconds=2)
