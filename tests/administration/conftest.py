"""The database, and the client and browser of an administrator."""

import pytest

from accounts.models import Member
from tests.support.admin_site import logged_in_browser
from tests.support.clients import JSONClient


@pytest.fixture
def browser(administrator: Member) -> JSONClient:
    return logged_in_browser(administrator)


@pytest.fixture
def client(administrator: Member) -> JSONClient:
    return JSONClient(administrator)


@pytest.fixture(autouse=True)
def database(db: None) -> None:
    """Let each test use the database."""
