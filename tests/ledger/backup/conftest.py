"""A premium member's client, and both ways to send a backup."""

from typing import Any

import pytest

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.workbooks import make_xlsx, send_json, upload


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture(params=["xlsx", "json"])
def restore(request: pytest.FixtureRequest, client: JSONClient) -> Any:
    """Restore a book as a workbook and as JSON."""

    def send(book: Any, query: str = "") -> Any:
        if request.param == "json":
            return send_json(client, book, query)
        return upload(client, make_xlsx(book), query)

    return send
