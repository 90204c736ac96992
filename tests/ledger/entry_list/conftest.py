"""The client of the tests of the entry list."""

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)
