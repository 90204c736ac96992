"""A premium member's client, both ways to send a backup, and a reader that is quick."""

import io
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

import pytest

from accounts.models import Member
from ledger.backup import sandboxed_reader, workbook
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


@pytest.fixture
def quick_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files in this process: the reader's own takes longer to start than to read."""

    def read(command: list[str], *, stdin: Any, **_: Any) -> Any:
        process = MagicMock(stdout=io.BytesIO())
        with (
            patch.object(sys, "argv", command[2:]),
            patch.object(sys, "stdin", SimpleNamespace(buffer=stdin)),
            patch.object(sys, "stdout", SimpleNamespace(buffer=process.stdout)),
            patch("os.nice"),
            patch.object(sandboxed_reader, "set_resource_limits"),
        ):
            sandboxed_reader.main()
        process.stdout.seek(0)
        return process

    subprocess = SimpleNamespace(Popen=read, PIPE=None, DEVNULL=None)
    monkeypatch.setattr(workbook, "subprocess", subprocess)
