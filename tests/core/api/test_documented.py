"""The judge of all responses (`tests.support.documented`) finds what is undocumented."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse

from accounts.models import Member
from core.errors import DomainError, InUseError, RateLimitedError
from ledger.views.entries import EntryViewSet
from tests.support.clients import JSONClient


class UndeclaredError(DomainError):
    code = "UNDECLARED"


def raising(error: Exception) -> Callable[..., Any]:
    def handler(*_: Any, **__: Any) -> Any:
        raise error

    return handler


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RateLimitedError(1), "undocumented status"),
        (InUseError(), "undocumented code"),
        (UndeclaredError(), "undocumented code"),
    ],
)
def test_undeclared_error_is_found(
    free_member: Member, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    client = JSONClient(free_member)
    monkeypatch.setattr(EntryViewSet, "create", raising(error))
    with pytest.raises(AssertionError, match=told):
        client.send("POST", "/api/account/entries", {})


@pytest.mark.parametrize(
    "body",
    [
        b'{"count": 1, "extra": 2}',
        b"{}",
        b'{"count": "1"}',
        b'{"count": null}',
    ],
)
@pytest.mark.parametrize("prefix", ["/api/account", "/api", ""])
def test_body_beside_its_schema_is_found(
    free_member: Member, monkeypatch: pytest.MonkeyPatch, body: bytes, prefix: str
) -> None:
    client = JSONClient(free_member)
    response = HttpResponse(body, content_type="application/json")
    monkeypatch.setattr(
        EntryViewSet, "count_pending_entries", lambda *_, **__: response
    )
    with pytest.raises(AssertionError, match="pending/count"):
        client.send("GET", f"{prefix}/entries/pending/count")


def test_allow_names_no_method_that_is_refused(free_member: Member) -> None:
    client = JSONClient(free_member)
    for path in ("/api/account/wallets", "/api/auth/session", "/api/schema"):
        response = client.send("GET", path)
        assert "OPTIONS" not in response.headers["Allow"]
        assert client.send("OPTIONS", path).status_code == 405
