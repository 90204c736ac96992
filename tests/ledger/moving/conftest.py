"""A member's ledger of which a wallet or a category is deleted with `moveTo`."""

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.moves import MovingLedger, make_moving_ledger


@pytest.fixture(params=["wallets", "categories"])
def ledger(request: pytest.FixtureRequest, premium_member: Member) -> MovingLedger:
    return make_moving_ledger(premium_member, request.param)


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)
