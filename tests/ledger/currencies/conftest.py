from collections.abc import Iterator

import pytest
import time_machine


@pytest.fixture(autouse=True)
def _saturday() -> Iterator[None]:
    with time_machine.travel("2026-11-21T12:00:00+09:00", tick=True):
        yield
