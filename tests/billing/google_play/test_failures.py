"""Google Play refuses a token, fails or does not answer."""

import logging
import socket
from datetime import datetime
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from werkzeug import Response

from billing.stores import load_verifier
from core import http_client
from tests.support.clients import JSONClient
from tests.support.fake_store import ACCESS_TOKEN, FakePlay, json_response, make_account
from tests.support.purchases import TOKEN, assert_not_granted, buy


@pytest.mark.parametrize("status", [400, 404, 410])
def test_token_that_the_store_does_not_know_is_invalid(
    buyer: JSONClient, play: FakePlay, status: int
) -> None:
    play.fail(status, {"error": {"code": status, "message": "x"}})
    assert_not_granted(buy(buyer, TOKEN), 400, "PURCHASE_INVALID")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, {"error": {"status": "UNAUTHENTICATED"}}),
        (403, {"error": {"status": "PERMISSION_DENIED"}}),
        (429, ""),
        (500, "<html>"),
        (503, {"error": {"status": "UNAVAILABLE"}}),
        (302, ""),
        (200, ""),
        (200, "<html>maintenance</html>"),
        (200, "[]"),
        (200, "null"),
        (200, {"kind": "x"}),
        (200, {"lineItems": 7, "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE"}),
        (200, {"lineItems": [7], "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE"}),
        (200, "[" * 100_000),
        (200, '{"lineItems": "' + "x" * 2_000_000 + '"}'),
        (
            200,
            {
                "subscriptionState": "SUBSCRIPTION_STATE_ACTIVE",
                "lineItems": [
                    {
                        "productId": "premium_monthly",
                        "latestSuccessfulOrderId": "GPA.1",
                        "expiryTime": "tomorrow",
                    }
                ],
            },
        ),
    ],
)
def test_unusable_response_is_502_and_nothing_is_stored(
    buyer: JSONClient, play: FakePlay, status: int, body: Any
) -> None:
    play.fail(status, body, Location="http://127.0.0.1:1/")
    assert_not_granted(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": "invalid_grant"}),
        (401, {"error": "unauthorized_client"}),
        (500, "oops"),
        (200, "<html>"),
        (200, "{}"),
        (200, '{"access_token": "x", "expires_in": "soon"}'),
    ],
)
def test_no_access_token_is_502(
    buyer: JSONClient, play: FakePlay, status: int, body: Any
) -> None:
    play.sell(TOKEN)
    play.token_refusal = (
        Response(body, status=status)
        if isinstance(body, str)
        else json_response(body, status)
    )
    assert_not_granted(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")
    play.token_refusal = None
    assert buy(buyer, TOKEN).status_code == 200


def test_unreachable_store_is_502(
    buyer: JSONClient, play: FakePlay, settings: Any
) -> None:
    play.sell(TOKEN)
    settings.STORE_BASE_URL = "http://127.0.0.1:1"
    assert_not_granted(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")


@pytest.mark.parametrize("address", ["STORE_BASE_URL", "token_uri"])
def test_store_that_hangs_is_502_within_its_time_limit(
    buyer: JSONClient,
    play: FakePlay,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    monkeypatch.setattr(http_client, "_send", send_within(0.3))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        if address == "STORE_BASE_URL":
            settings.STORE_BASE_URL = url
        else:
            account = settings.STORE_SERVICE_ACCOUNT | {"token_uri": f"{url}/token"}
            settings.STORE_SERVICE_ACCOUNT = account
        # The silent server never answers: without the limit there is no end.
        assert_not_granted(buy(buyer, TOKEN), 502, "PROVIDER_UNAVAILABLE")


def send_within(limit: float) -> Any:
    """Return `http_client._send` with a shorter time limit."""
    real = http_client._send

    def send(method: str, url: str, seconds: float, **parts: Any) -> Any:
        assert seconds <= 10
        return real(method, url, limit, **parts)

    return send


def test_revoked_access_token_is_replaced(
    buyer: JSONClient, monkeypatch: pytest.MonkeyPatch, sold: datetime
) -> None:
    monkeypatch.setattr("tests.support.fake_store.ACCESS_TOKEN", "another")
    assert buy(buyer, TOKEN).status_code == 502
    assert buy(buyer, TOKEN).status_code == 200


def test_token_cannot_change_the_url(buyer: JSONClient, play: FakePlay) -> None:
    for token in ("../../x", "a/b", "a?b=c#d", "..", "%2e%2e/", "x:cancel"):
        assert_not_granted(buy(buyer, token), 400, "PURCHASE_INVALID")
    for request, _ in play.server.log:
        assert request.method in {"GET", "POST"}
        if request.path != "/oauth2/token":
            assert request.method == "GET"
            assert not request.args


def test_nothing_secret_is_logged(
    buyer: JSONClient, play: FakePlay, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("urllib3").setLevel(logging.INFO)
    play.sell(TOKEN)
    buy(buyer, TOKEN)
    play.fail(500)
    buy(buyer, TOKEN)
    key = make_account()["private_key"][40:80]
    for line in caplog.records:
        if line.name.startswith("werkzeug"):
            continue
        text = line.getMessage() + str(vars(line))
        assert TOKEN not in text
        assert ACCESS_TOKEN not in text
        assert key not in text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORE_SERVICE_ACCOUNT", {}),
        ("STORE_SERVICE_ACCOUNT", {"client_email": "x"}),
        ("STORE_SERVICE_ACCOUNT", make_account() | {"private_key": "x"}),
        ("STORE_PACKAGE_NAME", ""),
    ],
)
def test_missing_setting_stops_the_start(
    play: FakePlay, settings: Any, name: str, value: Any
) -> None:
    setattr(settings, name, value)
    with pytest.raises(ImproperlyConfigured, match="STORE_SERVICE_ACCOUNT"):
        load_verifier()
