"""A member who sends the requests; files that need another kind have their own."""

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member


@pytest.fixture
def member() -> Member:
    return make_member()


@pytest.fixture
def client(member: Member) -> JSONClient:
    return JSONClient(member)
