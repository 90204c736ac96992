"""A member with wallets, whose bank texts are captured.

The parser is replaced by one that reads lines of words, so that each rule is tested
apart from the layouts of banks.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
import time_machine

from accounts.models import Member
from card_alerts import ParseResult, parse
from ledger.notifications import processing
from tests.support.alert_texts import NOTIFICATION
from tests.support.bank_bookings import SETTINGS, WALLETS, read_line
from tests.support.clients import JSONClient
from tests.support.factories import make_member


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Stop the clock, and replace the parser for texts without a heading in brackets."""

    def read_all(
        text: str, received_at: datetime, sender: str, currency: str, title: str
    ) -> list[ParseResult]:
        if text.startswith("["):
            return [parse(text, received_at, sender, currency, title)]
        return [read_line(line, received_at) for line in text.splitlines()]

    monkeypatch.setattr(processing, "parse_all", read_all)
    with time_machine.travel("2026-11-21T12:00:00+09:00", tick=False) as traveller:
        yield traveller


@pytest.fixture
def member() -> Member:
    return make_member(plan="PREMIUM", display_name="조민현")


@pytest.fixture
def client(member: Member) -> JSONClient:
    client = JSONClient(member)
    assert client.send("PATCH", SETTINGS, {"captureBankTexts": True}).status_code == 200
    return client


@pytest.fixture
def wallets(client: JSONClient) -> dict[str, int]:
    rows = (
        ("shinhan", "BANK", "신한은행", "110-482-448812"),
        ("kakao", "BANK", "카카오뱅크", "3333-02-7713418"),
        ("cash", "CASH", "", ""),
        ("card", "CARD", "삼성카드", ""),
        ("broker", "INVESTMENT", "키움증권", ""),
    )
    ids = {}
    for name, kind, institution, number in rows:
        body = {
            "name": name,
            "kind": kind,
            "institution": institution,
            "accountNumber": number,
        }
        ids[name] = client.send("POST", WALLETS, body).data["id"]
    return ids


@pytest.fixture
def send(client: JSONClient, wallets: dict[str, int]) -> Any:
    def post(text: str) -> Any:
        response = client.send("POST", NOTIFICATION, {"text": text})
        assert response.status_code in {200, 201}, response.content
        return response.data

    return post
