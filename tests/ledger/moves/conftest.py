"""A member's ledger with limits so small that its deletions move by the job."""

import pytest

from accounts.models import Member
from ledger import move_job, moves
from tests.support.clients import JSONClient
from tests.support.moves import BATCH_SIZE, LIMIT, MovingLedger, make_moving_ledger


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moves, "MAX_ENTRIES_OF_REQUEST", LIMIT)
    monkeypatch.setattr(move_job, "BATCH_SIZE", BATCH_SIZE)


@pytest.fixture(params=["wallets", "categories"])
def ledger(request: pytest.FixtureRequest, premium_member: Member) -> MovingLedger:
    return make_moving_ledger(premium_member, request.param)


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture
def moving(ledger: MovingLedger, client: JSONClient) -> MovingLedger:
    """Return the ledger after the request, before the job."""
    response = client.send("DELETE", ledger.deletion)
    assert response.status_code == 202, response.content
    return ledger
