"""The order of what the members of the demo do."""

from collections.abc import Callable
from datetime import datetime


class Timeline:
    """Acts, done in the order of their times, which the ids of the rows then have."""

    def __init__(self) -> None:
        self._acts: list[tuple[datetime, Callable[[], None]]] = []

    def add(self, time: datetime, act: Callable[[], None]) -> None:
        self._acts.append((time, act))

    def run(self) -> None:
        for _time, act in sorted(self._acts, key=lambda pair: pair[0]):
            act()
