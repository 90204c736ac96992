"""Documents are read at each request."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.legal.documents import KNOWN


@pytest.fixture(autouse=True)
def fresh_documents(settings: Any) -> Iterator[None]:
    """Read them each time, and forget them after the test."""
    settings.LEGAL_CACHE_SECONDS = 0
    yield
    KNOWN.documents = ()
