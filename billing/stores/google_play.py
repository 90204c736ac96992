"""Google Play as the store: the Google Play Developer API, version 3."""

import functools
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from google.auth.exceptions import GoogleAuthError
from google.auth.transport import Request, Response
from google.oauth2.service_account import Credentials

from billing.errors import InvalidPurchaseError
from billing.products import Product, find_product
from billing.stores import Subscription
from core import http_client
from core.errors import ProviderUnavailableError

logger = logging.getLogger(__name__)

SCOPE = "https://www.googleapis.com/auth/androidpublisher"
STATE_PREFIX = "SUBSCRIPTION_STATE_"
ENTITLED_STATES = frozenset({"ACTIVE", "IN_GRACE_PERIOD", "CANCELED"})
"""CANCELED runs on until its expiry; all other states, new ones too, give nothing."""
ACKNOWLEDGED_STATE = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
INVALID_PURCHASE_STATUSES = frozenset({400, 404, 410})
"""Invalid Value, purchaseTokenNotFound, purchaseTokenNoLongerValid."""
_ERROR_REASON_RE = re.compile(r"[A-Za-z_]{1,50}")


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of a subscription."""

    product: Product
    order_id: str
    expires_at: datetime
    auto_renew: bool


class GooglePlay:
    """A `StoreVerifier` with a service account of the Play Console."""

    store = "google_play"
    can_refresh = True

    def __init__(self) -> None:
        if not settings.STORE_SERVICE_ACCOUNT or not settings.STORE_PACKAGE_NAME:
            raise ImproperlyConfigured(
                "STORE_SERVICE_ACCOUNT and STORE_PACKAGE_NAME are not set: the "
                "verifier of Google Play needs both."
            )
        self.package: str = settings.STORE_PACKAGE_NAME
        self._credentials = _load_credentials(settings.STORE_SERVICE_ACCOUNT)

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        """`purchases.subscriptionsv2.get`."""
        address = f"{self._purchases_url}/subscriptionsv2/tokens/{_quote(token)}"
        answer = http_client.get(address, {}, headers=self._authorization_headers())
        body = _parse_json_object(self._check_response(answer).body)
        return _parse_subscription(body, token, product)

    def acknowledge(self, token: str, product_id: str) -> None:
        """`purchases.subscriptions.acknowledge`."""
        self._post(token, product_id, "acknowledge")

    def stop_renewal(self, token: str, product_id: str) -> None:
        """`purchases.subscriptions.cancel`."""
        self._post(token, product_id, "cancel")

    @property
    def _purchases_url(self) -> str:
        package = _quote(self.package)
        base = f"{settings.STORE_BASE_URL}/androidpublisher/v3/applications"
        return f"{base}/{package}/purchases"

    def _post(self, token: str, product_id: str, verb: str) -> None:
        path = f"subscriptions/{_quote(product_id)}/tokens/{_quote(token)}:{verb}"
        address = f"{self._purchases_url}/{path}"
        self._check_response(
            http_client.post_json(address, {}, headers=self._authorization_headers())
        )

    def _authorization_headers(self) -> Mapping[str, str]:
        """The header with an access token, fetched anew when the last one is old."""
        if not self._credentials.valid:
            try:
                self._credentials.refresh(HttpClientTransport())
            except (GoogleAuthError, ValueError, TypeError, AttributeError):
                logger.warning("google play: no access token")
                raise ProviderUnavailableError from None
        return {"Authorization": f"Bearer {self._credentials.token}"}

    def _check_response(
        self, answer: http_client.ProviderResponse
    ) -> http_client.ProviderResponse:
        if 200 <= answer.status < 300:
            return answer
        if answer.status in INVALID_PURCHASE_STATUSES:
            raise InvalidPurchaseError
        if answer.status == 401:
            self._credentials.token = None  # a new one is fetched next time
        logger.warning(
            "google play: status %s %s", answer.status, _error_reason(answer)
        )
        raise ProviderUnavailableError


class HttpClientTransport(Request):
    """How google-auth reaches the token address: with our limits."""

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: Any,
    ) -> Response:
        return TransportResponse(
            http_client.post_form(url, body or b"", headers=headers)
        )


class TransportResponse(Response):
    """An answer as google-auth reads it."""

    def __init__(self, answer: http_client.ProviderResponse) -> None:
        self._answer = answer

    @property
    def status(self) -> int:
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        return {}

    @property
    def data(self) -> bytes:
        return self._answer.body


def _load_credentials(account: Mapping[str, str]) -> Any:
    return _build_credentials(json.dumps(account, sort_keys=True))


@functools.lru_cache(maxsize=4)
def _build_credentials(account: str) -> Any:
    """One for the process, so that an access token serves for its hour."""
    try:
        return Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
            json.loads(account), scopes=[SCOPE]
        )
    except (GoogleAuthError, ValueError, TypeError):
        raise ImproperlyConfigured(
            "STORE_SERVICE_ACCOUNT is not the key of a service account."
        ) from None


def _parse_subscription(
    body: Mapping[str, Any], token: str, product: Product | None
) -> Subscription:
    """The subscription of an answer; none of our products is `InvalidPurchaseError`."""
    try:
        items = _parse_line_items(body, product)
        state = str(body["subscriptionState"]).removeprefix(STATE_PREFIX)
        who = body.get("externalAccountIdentifiers") or {}
        account = str(who.get("obfuscatedExternalAccountId") or "")
        replaces = str(body.get("linkedPurchaseToken") or "")
        acknowledged = body.get("acknowledgementState") == ACKNOWLEDGED_STATE
    except (LookupError, TypeError, ValueError, AttributeError):
        logger.warning("google play: an answer that cannot be read")
        raise ProviderUnavailableError from None
    if not items:
        raise InvalidPurchaseError
    item = max(items, key=lambda item: item.expires_at)
    return Subscription(
        store=GooglePlay.store,
        token=token,
        order_id=item.order_id,
        product=item.product,
        auto_renew=item.auto_renew,
        expires_at=item.expires_at,
        is_entitled=state in ENTITLED_STATES,
        acknowledged=acknowledged,
        state=state,
        replaced_token=replaces,
        obfuscated_account_id=account,
    )


def _parse_line_items(
    body: Mapping[str, Any], wanted: Product | None
) -> Sequence[LineItem]:
    """The lines with products of ours that were paid for once at least."""
    items = []
    for line in body["lineItems"]:
        product = find_product(str(line.get("productId")))
        order_id = line.get("latestSuccessfulOrderId") or body.get("latestOrderId")
        if product is None or (wanted and product != wanted):
            continue
        if not order_id or not line.get("expiryTime"):
            continue
        expires_at = datetime.fromisoformat(line["expiryTime"])
        if expires_at.tzinfo is None:
            raise ValueError
        renewing = line.get("autoRenewingPlan") or {}
        auto_renew = renewing.get("autoRenewEnabled") is True
        items.append(LineItem(product, str(order_id)[:255], expires_at, auto_renew))
    return items


def _parse_json_object(body: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        logger.warning("google play: an answer that is no JSON object")
        raise ProviderUnavailableError
    return content


def _error_reason(answer: http_client.ProviderResponse) -> str:
    """The store's own name of a refusal, such as PERMISSION_DENIED."""
    try:
        name = json.loads(answer.body)["error"]["status"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    return name if isinstance(name, str) and _ERROR_REASON_RE.fullmatch(name) else ""


def _quote(text: str) -> str:
    return quote(text, safe="")
