from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from accounts.models import Member
from core import http_client
from ledger.currencies.rates import Rate
from ledger.investments import prices
from tests.support.clients import JSONClient
from tests.support.fake_market import SOURCES, FakeMarket


@pytest.fixture
def market(settings: Any) -> Iterator[FakeMarket]:
    """Yield a server of this test alone: slow requests must not meet the next test."""
    fake = FakeMarket()
    with HTTPServer(threaded=True) as server:
        server.expect_request("/moved").respond_with_json({"datas": []})
        server.expect_request(SOURCES).respond_with_handler(fake)
        settings.PRICE_BASE_URL = server.url_for("").rstrip("/")
        http_client.circuit_breaker.reset()
        yield fake
    http_client.circuit_breaker.reset()


@pytest.fixture
def dollars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the rate of the dollar to 1,400 won."""

    def look_up(base: str, quote: str, day: Any) -> Rate:
        assert (base, quote) == ("USD", "KRW")
        return Rate(Decimal(1_400), day)

    monkeypatch.setattr(prices, "get_rate", look_up)


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)
