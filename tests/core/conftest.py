"""A member's client for the tests of the kernel."""

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)
