"""A premium member's client, and both ways to send a backup."""

import pytest

from tests.support.clients import JSONClient
from tests.support.workbooks import make_xlsx, send_json, upload


@pytest.fixture
def client(premium_member) -> JSONClient:
    return JSONClient(premium_member)


@pytest.fixture(params=["xlsx", "json"])
def restore(request, client):
    """Restore a book as a workbook and as JSON."""

    def send(book, query=""):
        if request.param == "json":
            return send_json(client, book, query)
        return upload(client, make_xlsx(book), query)

    return send
