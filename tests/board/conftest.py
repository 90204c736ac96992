"""The database and a member's client for the tests of the board."""

import pytest

from accounts.models import Member
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def browser(administrator: Member) -> JSONClient:
    return logged_in_browser(administrator)


@pytest.fixture(autouse=True)
def database(db: None) -> None:
    """Let each test use the database."""
