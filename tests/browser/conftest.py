"""A browser for the pages of a live server."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.devtools import PROGRAM, Chromium, load_axe


@pytest.fixture
def page(live_server: Any) -> Iterator[Chromium]:
    """Yield a browser; the server runs as long."""
    with Chromium(PROGRAM) as browser:
        yield browser


@pytest.fixture
def axe() -> None:
    """Install axe-core, before a browser starts; skip the test where that fails."""
    load_axe()
