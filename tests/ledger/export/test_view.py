"""GET /export: who may, what is refused, and how the file is sent (spec 3.28)."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member, SecurityLogEntry
from ledger.backup import concurrency_limits
from ledger.export import export
from ledger.export.export import FORMATS
from tests.support.clients import JSONClient
from tests.support.exports import EXPORT
from tests.support.factories import make_entry, make_member, make_wallet
from tests.support.problems import assert_invalid, assert_problem
from tests.support.workbooks import get_file, read_book

pytestmark = pytest.mark.django_db


def get(member: Member, **query: Any) -> Any:
    return JSONClient(member).send("GET", EXPORT, query_params=query)


def download(member: Member, name: str) -> bytes:
    return get_file(JSONClient(member), f"{EXPORT}?format={name}")


def read_texts(name: str, data: bytes) -> str:
    """Return the text of a file of the format."""
    return repr(read_book(data)) if name == "xlsx" else data.decode()


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_a_file_for_every_plan(free_member: Member, name: str) -> None:
    make_entry(free_member, memo="lunch")
    response: Any = JSONClient(free_member).get(EXPORT, {"format": name})
    data = response.getvalue()
    assert response.status_code == 200
    assert response.headers["Content-Type"] == FORMATS[name].content_type
    assert int(response.headers["Content-Length"]) == len(data)
    assert response.headers["Cache-Control"] == "no-store"
    day = timezone.localdate().isoformat()
    filename = f"household-ledger-export-{day}.{FORMATS[name].extension}"
    disposition = f'attachment; filename="{filename}"'
    assert response.headers["Content-Disposition"] == disposition
    assert "lunch" in read_texts(name, data)


@pytest.mark.parametrize(
    ("query", "field", "code"),
    [
        ({}, "format", "required"),
        ({"format": "pdf"}, "format", "invalid_choice"),
        ({"format": "CSV"}, "format", "invalid_choice"),
        ({"format": ["csv", "json"]}, "format", "repeated"),
        ({"format": "csv", "from": "2026-13-01"}, "from", "invalid"),
        ({"format": "csv", "to": "yesterday"}, "to", "invalid"),
        ({"format": "csv", "from": "2026-02-01", "to": "2026-01-01"}, "to", "invalid"),
        ({"format": "csv", "walletId": "x"}, "walletId", "invalid"),
        ({"format": "csv", "wallet": "1"}, "wallet", "unknown"),
        ({"format": "csv", "year": "2026"}, "year", "unknown"),
        ({"format": "json", "from": "2026-01-01"}, "from", "invalid"),
        ({"format": "json", "to": "2026-01-01"}, "to", "invalid"),
        ({"format": "json", "walletId": "1"}, "walletId", "invalid"),
    ],
)
def test_query_is_checked(
    free_member: Member, query: dict[str, Any], field: str, code: str
) -> None:
    response = get(free_member, **query)
    assert_invalid(response, field)
    assert response.data["errors"][0]["code"] == code
    assert not SecurityLogEntry.objects.filter(kind="EXPORTED").exists()


@pytest.mark.parametrize("name", ["csv", "xlsx", "beancount", "hledger"])
def test_wallet_of_another_member_is_unknown(
    free_member: Member, other_member: Member, name: str
) -> None:
    for wallet_id in (make_wallet(other_member).pk, 2**62, 2**80, -1):
        response = get(free_member, format=name, walletId=wallet_id)
        assert_problem(response, 404, "NOT_FOUND")


def test_export_is_in_the_security_log(free_member: Member) -> None:
    assert get(free_member, format="csv").status_code == 200
    entry = SecurityLogEntry.objects.get(kind="EXPORTED")
    assert (entry.member, entry.is_by_staff) == (free_member, False)


def test_thirteenth_export_of_an_hour_waits(
    free_member: Member, other_member: Member
) -> None:
    for _ in range(12):
        assert get(free_member, format="csv").status_code == 200
    response = get(free_member, format="json")
    assert_problem(response, 429, "RATE_LIMITED")
    assert 3_500 < int(response.headers["Retry-After"]) <= 3_600
    assert get(other_member, format="csv").status_code == 200


def test_exports_and_backups_share_their_slots(premium_member: Member) -> None:
    with concurrency_limits.export_slot(), concurrency_limits.export_slot():
        response = get(premium_member, format="csv")
        assert_problem(response, 503, "SERVICE_UNAVAILABLE")
        assert "Retry-After" in response.headers
    # What was refused does not count.
    assert get(premium_member, format="csv").status_code == 200


def test_error_half_way_is_an_error_and_no_file(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(export: Any, file: Any) -> None:
        file.write(b"half")
        raise OSError("no space")

    broken = {**FORMATS, "csv": export.ExportFormat("text/csv", "csv", fail)}
    monkeypatch.setattr(export, "FORMATS", broken)
    response = get(free_member, format="csv")
    assert_problem(response, 500, "INTERNAL_ERROR")
    assert SecurityLogEntry.objects.filter(kind="EXPORTED").count() == 1


def test_members_see_their_own_rows_alone(free_member: Member) -> None:
    stranger = make_member()
    wallet = make_wallet(stranger, name="strange wallet")
    make_entry(stranger, memo="strange memo", wallet=wallet, tags=("strange",))
    for name in FORMATS:
        assert "strange" not in read_texts(name, download(free_member, name))
