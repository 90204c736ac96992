import pytest

from accounts.models import Member
from tests.support.clients import JSONClient


@pytest.fixture(autouse=True)
def _db(db: None) -> None: ...


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)
