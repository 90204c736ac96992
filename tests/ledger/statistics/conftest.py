"""The client of the tests of statistics."""

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)
