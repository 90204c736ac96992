"""Signs of life of the web server's workers, in memory shared with its main process.

A worker beats if a thread and the event loop run, so that a held interpreter lock, a
blocked loop and a stopped process are silence.
"""

import asyncio
import mmap
import struct
import threading
import time
from collections.abc import Iterable

INTERVAL_SECONDS = 1.0
MAX_SILENCE_SECONDS = 10.0

_TIME = struct.Struct("d")


class Heartbeats:
    """Times of `time.monotonic`, which all processes of a machine share, by number."""

    def __init__(self, count: int) -> None:
        self._memory = mmap.mmap(-1, _TIME.size * count)

    def beat(self, number: int) -> None:
        _TIME.pack_into(self._memory, _TIME.size * number, time.monotonic())

    def get_silence(self, number: int, now: float) -> float:
        (beaten_at,) = _TIME.unpack_from(self._memory, _TIME.size * number)
        return float(now - beaten_at)


class Watch:
    """Finds silent workers; a pause of the watcher itself is no silence of theirs."""

    def __init__(self, heartbeats: Heartbeats) -> None:
        self._heartbeats = heartbeats
        self._checked_at = time.monotonic()

    def list_silent(self, numbers: Iterable[int]) -> list[int]:
        now = time.monotonic()
        was_paused = now - self._checked_at > 3 * INTERVAL_SECONDS
        self._checked_at = now
        if was_paused:
            for number in numbers:
                self._heartbeats.beat(number)
            return []
        return [
            number
            for number in numbers
            if self._heartbeats.get_silence(number, now) > MAX_SILENCE_SECONDS
        ]


# Of this process, once it is forked.
_own: tuple[Heartbeats, int] | None = None


def assign(heartbeats: Heartbeats, number: int) -> None:
    """Give the worker that is forked next its number, and time to start."""
    global _own
    _own = heartbeats, number
    heartbeats.beat(number)


def start_beating(loop: asyncio.AbstractEventLoop) -> None:
    if _own is None:
        return
    heartbeats, number = _own

    def beat() -> None:
        while True:
            is_answered = threading.Event()
            try:
                loop.call_soon_threadsafe(is_answered.set)
            except RuntimeError:
                # The loop is closed: the worker ends.
                return
            is_answered.wait()
            heartbeats.beat(number)
            time.sleep(INTERVAL_SECONDS)

    threading.Thread(target=beat, name="heartbeat", daemon=True).start()
