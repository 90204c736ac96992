"""The client of an administrator."""

import pytest

from accounts.models import Member
from tests.conftest import ClientOf
from tests.support.clients import JSONClient


@pytest.fixture
def client(administrator: Member, client_of: ClientOf) -> JSONClient:
    return client_of(administrator)
