"""Google Play on a loopback address: tokens, subscriptions, acknowledgements."""

import functools
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from billing.stores import google_play

PACKAGE = "com.example.ledger"
VERIFIER = "billing.stores.google_play.GooglePlay"
TOKEN_PATH = "/oauth2/token"
LOOKUP_TIMEOUT_SECONDS = 2
ACCESS_TOKEN = "ya29.an-access-token"
APPLICATION = f"/androidpublisher/v3/applications/{PACKAGE}"
PURCHASES, ORDERS = f"{APPLICATION}/purchases", f"{APPLICATION}/orders"


@functools.cache
def make_account() -> dict[str, str]:
    """Return the key of a service account, as the Play Console hands it out."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {
        "type": "service_account",
        "project_id": "ledger",
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": "ledger@ledger.iam.gserviceaccount.com",
        "client_id": "1",
    }


class FakePlay:
    """The store; `bodies` are its subscriptions by token, in the wire format."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.bodies: dict[str, dict[str, Any]] = {}
        self.orders: dict[str, dict[str, Any]] = {}
        self.refusal: Response | None = None
        self.token_refusal: Response | None = None
        # The verbs (acknowledge, cancel) that fail.
        self.deaf: set[str] = set()
        # Makes look-ups wait for each other after the store has answered them.
        self.lookups_at_once: threading.Barrier | None = None
        server.expect_request(TOKEN_PATH).respond_with_handler(self._issue)
        server.expect_request(re.compile(f"{PURCHASES}/.*")).respond_with_handler(
            self._answer
        )
        server.expect_request(re.compile(f"{ORDERS}/.*")).respond_with_handler(
            self._answer_order
        )

    def sell(
        self,
        token: str,
        *,
        order: str = "GPA.1",
        product: str = "premium_monthly",
        expires_at: datetime | None = None,
        state: str = "ACTIVE",
        auto_renew: bool = True,
        **more: Any,
    ) -> datetime:
        """Let the store say this of the token from now on; return when it expires."""
        expires_at = expires_at or timezone.now() + timedelta(days=30)
        plan = {"autoRenewEnabled": True} if auto_renew else {}
        line = {
            "productId": product,
            "expiryTime": expires_at.astimezone(UTC).isoformat()[:-6] + "Z",
            "latestSuccessfulOrderId": order,
            "autoRenewingPlan": plan,
            "offerDetails": {"basePlanId": "basic"},
        }
        acknowledged = self.bodies.get(token, {}).get("acknowledgementState")
        self.bodies[token] = {
            "kind": "androidpublisher#subscriptionPurchaseV2",
            "regionCode": "KR",
            "startTime": "2026-01-01T00:00:00.123456789Z",
            "subscriptionState": f"SUBSCRIPTION_STATE_{state}",
            "latestOrderId": order,
            "acknowledgementState": acknowledged or "ACKNOWLEDGEMENT_STATE_PENDING",
            "etag": "e",
            "lineItems": [line],
        } | more
        return expires_at

    def bill(
        self, order: str, total: str, currency: str = "KRW", **more: Any
    ) -> dict[str, Any]:
        """Let the store say this of the order from now on."""
        self.orders[order] = {
            "orderId": order,
            "state": "PROCESSED",
            "createTime": "2026-01-01T00:00:00.123Z",
            "total": money(total, currency),
            "tax": money("0", currency),
        } | more
        return self.orders[order]

    def fail(self, status: int, body: Any = "", **headers: str) -> None:
        """Answer everything but tokens like this."""
        text = body if isinstance(body, str) else json.dumps(body)
        self.refusal = Response(text, status=status, headers=headers)

    @property
    def calls(self) -> list[str]:
        """Return what was asked, tokens aside, as `POST tokens/T:acknowledge`."""
        return [
            f"{request.method} {request.path.split('/purchases/')[1]}"
            for request, _ in self.server.log
            if "/purchases/" in request.path
        ]

    def _issue(self, request: Request) -> Response:
        if self.token_refusal is not None:
            return self.token_refusal
        assert request.form["grant_type"].endswith(":jwt-bearer")
        assert request.form["assertion"].count(".") == 2
        return json_response({"access_token": ACCESS_TOKEN, "expires_in": 3600})

    def _answer_order(self, request: Request) -> Response:
        if self.refusal is not None:
            return self.refusal
        order = unquote(request.path.rsplit("/", 1)[1])
        if order not in self.orders:
            return error_response(404, "NOT_FOUND")
        return json_response(self.orders[order])

    def _answer(self, request: Request) -> Response:
        if self.refusal is not None:
            return self.refusal
        if request.headers.get("Authorization") != f"Bearer {ACCESS_TOKEN}":
            return error_response(401, "UNAUTHENTICATED")
        token, _, verb = request.path.rsplit("/", 1)[1].partition(":")
        if token not in self.bodies:
            return error_response(404, "NOT_FOUND")
        if verb in self.deaf:
            return error_response(503, "UNAVAILABLE")
        body = self.bodies[token]
        if not verb:
            response = json_response(body)
            if self.lookups_at_once is not None:
                self.lookups_at_once.wait(LOOKUP_TIMEOUT_SECONDS)
            return response
        if verb == "acknowledge":
            body["acknowledgementState"] = google_play.ACKNOWLEDGED_STATE
        elif verb == "cancel":
            body["subscriptionState"] = "SUBSCRIPTION_STATE_CANCELED"
            body["lineItems"][0]["autoRenewingPlan"] = {}
        return Response("")


def money(amount: str, currency: str = "KRW") -> dict[str, Any]:
    """Return an amount on the wire: whole units as text, and nanos unless zero."""
    units, _, decimals = amount.partition(".")
    nanos = int(decimals.ljust(9, "0"))
    return {"currencyCode": currency, "units": units} | (
        {"nanos": nanos} if nanos else {}
    )


def json_response(body: Any, status: int = 200) -> Response:
    return Response(json.dumps(body), status=status, mimetype="application/json")


def error_response(status: int, name: str) -> Response:
    return json_response({"error": {"code": status, "status": name}}, status)


@contextmanager
def fake_play_at(settings: Any) -> Iterator[FakePlay]:
    """Use Google Play as the store, with a server of its own."""
    google_play._build_credentials.cache_clear()
    with HTTPServer(threaded=True) as server:
        settings.STORE_VERIFIER = VERIFIER
        settings.STORE_BASE_URL = server.url_for("").rstrip("/")
        settings.STORE_PACKAGE_NAME = PACKAGE
        settings.STORE_SERVICE_ACCOUNT = make_account() | {
            "token_uri": server.url_for(TOKEN_PATH)
        }
        yield FakePlay(server)
        server.check_assertions()
