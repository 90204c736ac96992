"""Files sent to `/imports`."""

from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from accounts.models import Member
from ledger.imports.choices import Choices
from ledger.imports.records import Table
from ledger.imports.storing import create_import
from ledger.models import Import
from tests.support.clients import JSONClient
from tests.support.rollups import assert_rollups_are_right

IMPORTS = "/api/account/imports"
HEADER = "date,wallet,category,memo,amount\n"


def make_import(member: Member) -> Import:
    """Make an open import with one row of the day."""
    now = timezone.now()
    rows = [["date", "memo", "out"], [timezone.localdate().isoformat(), "Row", "5"]]
    table = Table("csv", "", rows)
    return create_import(member, [table], Choices(), now, timezone.localdate())


def upload(client: JSONClient, data: str | bytes, **fields: Any) -> Any:
    data = data.encode() if isinstance(data, str) else data
    answer: Any = client.post(
        IMPORTS, {"file": SimpleUploadedFile("any", data), **fields}
    )
    answer.data = answer.json()
    return answer


def read_file(client: JSONClient, data: str | bytes, **fields: Any) -> Any:
    answer = upload(client, data, **fields)
    assert answer.status_code == 201, answer.content
    return answer.json()


def commit(client: JSONClient, import_id: int) -> Any:
    """Commit an import; it must show in the totals."""
    answer = client.send("POST", f"{IMPORTS}/{import_id}/commit")
    assert answer.status_code == 200, answer.content
    assert_rollups_are_right()
    return answer.json()


def import_file(client: JSONClient, data: str | bytes, **fields: Any) -> Any:
    """Read and commit a file."""
    return commit(client, read_file(client, data, **fields)["id"])


def rows_of(client: JSONClient, import_id: int, **query: Any) -> list[Any]:
    path = f"{IMPORTS}/{import_id}/rows"
    results: list[Any] = client.get_json(path, size=100, **query)["results"]
    return results


def change_rows(client: JSONClient, import_id: int, *rows: Any) -> Any:
    answer = client.send("PATCH", f"{IMPORTS}/{import_id}/rows", list(rows))
    assert answer.status_code == 200, answer.content
    return answer.data
