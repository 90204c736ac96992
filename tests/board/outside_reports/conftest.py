"""Who writes, reports from outside, and decides."""

from pathlib import Path
from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member


@pytest.fixture(autouse=True)
def _mail(mail_folder: Path, settings: Any) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"


@pytest.fixture
def author() -> Member:
    return make_member(display_name="Author")


@pytest.fixture
def moderator() -> JSONClient:
    return JSONClient(make_member(role="MODERATOR", display_name="Judge"))
