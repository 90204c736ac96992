"""Google Play Developer API, version 3."""

import functools
import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from google.auth.exceptions import GoogleAuthError
from google.auth.transport import Request, Response
from google.oauth2.service_account import Credentials

from billing.errors import InvalidPurchaseError
from billing.models import AMOUNT_DECIMALS, AMOUNT_DIGITS
from billing.products import Product, find_product
from billing.stores import Order, Subscription
from core import http_client
from core.errors import ProviderUnavailableError

logger = logging.getLogger(__name__)

SCOPE = "https://www.googleapis.com/auth/androidpublisher"
STATE_PREFIX = "SUBSCRIPTION_STATE_"
# CANCELED runs until its expiry. All other states grant nothing.
ENTITLED_STATES = frozenset({"ACTIVE", "IN_GRACE_PERIOD", "CANCELED"})
ACKNOWLEDGED_STATE = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
INVALID_PURCHASE_STATUSES = frozenset({400, 404, 410})
MAX_ORDER_ID_LENGTH = 255
UNSETTLED_ORDER_STATES = frozenset({"PENDING", "PENDING_REFUND"})
CANCELED_ORDER_STATE = "CANCELED"
PROCESSED_REFUND_STATE = "PROCESSED_SUCCESSFULLY"
MAX_ORDER_AMOUNT = Decimal(10) ** (AMOUNT_DIGITS - AMOUNT_DECIMALS)
# Other texts could be secrets and are not logged.
_ERROR_STATUS_RE = re.compile(r"[A-Za-z_]{1,50}")
_CURRENCY_RE = re.compile(r"[A-Z]{3}")

google_play = http_client.OutsideService("google play")
google_accounts = http_client.OutsideService("google accounts")


@dataclass(frozen=True, slots=True)
class LineItem:
    product: Product
    order_id: str
    expires_at: datetime
    auto_renew: bool


class GooglePlay:
    store = "google_play"
    can_refresh = True

    def __init__(self) -> None:
        if not settings.STORE_SERVICE_ACCOUNT or not settings.STORE_PACKAGE_NAME:
            raise ImproperlyConfigured(
                "STORE_SERVICE_ACCOUNT and STORE_PACKAGE_NAME are required by the "
                "verifier of Google Play."
            )
        self.package: str = settings.STORE_PACKAGE_NAME
        self._credentials = _build_credentials(
            json.dumps(settings.STORE_SERVICE_ACCOUNT, sort_keys=True)
        )

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        """Call `purchases.subscriptionsv2.get`."""
        body = self._get(f"purchases/subscriptionsv2/tokens/{_quote(token)}")
        return _parse_subscription(body, token, product)

    def fetch_order(self, order_id: str) -> Order | None:
        """Call `orders.get`, for which the account must see financial data."""
        return _parse_order(self._get(f"orders/{_quote(order_id)}"))

    def acknowledge(self, token: str, product_id: str, account_id: str = "") -> None:
        """Call `purchases.subscriptions.acknowledge`."""
        ids = {"externalAccountIds": {"obfuscatedAccountId": account_id}}
        self._post(token, product_id, "acknowledge", ids if account_id else {})

    def stop_renewal(self, token: str, product_id: str) -> None:
        """Call `purchases.subscriptions.cancel`."""
        self._post(token, product_id, "cancel", {})

    @property
    def _application_url(self) -> str:
        base = f"{settings.STORE_BASE_URL}/androidpublisher/v3/applications"
        return f"{base}/{_quote(self.package)}"

    def _get(self, path: str) -> Mapping[str, Any]:
        response = http_client.get(
            f"{self._application_url}/{path}",
            {},
            service=google_play,
            headers=self._authorization_headers(),
        )
        self._check_status(response)
        try:
            body = json.loads(response.body)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            logger.warning("google play: response is not a JSON object")
            raise ProviderUnavailableError
        return body

    def _post(
        self, token: str, product_id: str, method: str, body: Mapping[str, Any]
    ) -> None:
        subscription = f"subscriptions/{_quote(product_id)}/tokens/{_quote(token)}"
        url = f"{self._application_url}/purchases/{subscription}:{method}"
        headers = self._authorization_headers()
        response = http_client.post_json(
            url, body, service=google_play, headers=headers
        )
        self._check_status(response)

    def _authorization_headers(self) -> Mapping[str, str]:
        if not self._credentials.valid:
            try:
                self._credentials.refresh(HttpClientTransport())
            except (GoogleAuthError, ValueError, TypeError, AttributeError):
                logger.warning("google play: no access token")
                # The cause may contain the assertion.
                raise ProviderUnavailableError from None
        return {"Authorization": f"Bearer {self._credentials.token}"}

    def _check_status(self, response: http_client.ProviderResponse) -> None:
        if 200 <= response.status < 300:
            return
        if response.status in INVALID_PURCHASE_STATUSES:
            raise InvalidPurchaseError
        if response.status == 401:
            # The access token was revoked.
            self._credentials.token = None
        try:
            name = json.loads(response.body)["error"]["status"]
        except (ValueError, LookupError, TypeError, RecursionError):
            name = ""
        if not (isinstance(name, str) and _ERROR_STATUS_RE.fullmatch(name)):
            name = ""
        logger.warning("google play: status %s %s", response.status, name)
        raise ProviderUnavailableError


class HttpClientTransport(Request):
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
            http_client.post_form(
                url, body or b"", service=google_accounts, headers=headers
            )
        )


class TransportResponse(Response):
    def __init__(self, response: http_client.ProviderResponse) -> None:
        self._response = response

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return {}

    @property
    def data(self) -> bytes:
        return self._response.body


# All verifiers share an access token for its hour.
@functools.lru_cache(maxsize=4)
def _build_credentials(service_account: str) -> Any:
    try:
        return Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
            json.loads(service_account), scopes=[SCOPE]
        )
    except (GoogleAuthError, ValueError, TypeError):
        # The cause may contain a part of the key.
        raise ImproperlyConfigured(
            "STORE_SERVICE_ACCOUNT is not the key of a service account."
        ) from None


def _parse_subscription(
    body: Mapping[str, Any], token: str, product: Product | None
) -> Subscription:
    """Raise `InvalidPurchaseError` without a paid line item."""
    try:
        items = _parse_line_items(body, product)
        state = str(body["subscriptionState"]).removeprefix(STATE_PREFIX)
        identifiers = body.get("externalAccountIdentifiers") or {}
        account_id = str(identifiers.get("obfuscatedExternalAccountId") or "")
        replaced_token = str(body.get("linkedPurchaseToken") or "")
        out_of_app = body.get("outOfAppPurchaseContext") or {}
        expired_ids = out_of_app.get("expiredExternalAccountIdentifiers") or {}
        expired_id = str(expired_ids.get("obfuscatedExternalAccountId") or "")
        expired_token = str(out_of_app.get("expiredPurchaseToken") or "")
        is_acknowledged = body.get("acknowledgementState") == ACKNOWLEDGED_STATE
    except (LookupError, TypeError, ValueError, AttributeError):
        logger.warning("google play: unreadable response")
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
        is_acknowledged=is_acknowledged,
        state=state,
        replaced_token=replaced_token,
        obfuscated_account_id=account_id,
        is_out_of_app=bool(out_of_app),
        expired_token=expired_token,
        expired_account_id=expired_id,
    )


def _parse_line_items(
    body: Mapping[str, Any], wanted: Product | None
) -> Sequence[LineItem]:
    items = []
    for line in body["lineItems"]:
        product = find_product(str(line.get("productId")))
        if product is None or (wanted and product != wanted):
            continue
        # Unpaid lines have no order or no expiry.
        order_id = line.get("latestSuccessfulOrderId") or body.get("latestOrderId")
        if not order_id or not line.get("expiryTime"):
            continue
        expires_at = _parse_time(line["expiryTime"])
        renewal = line.get("autoRenewingPlan") or {}
        auto_renew = renewal.get("autoRenewEnabled") is True
        order_id = str(order_id)[:MAX_ORDER_ID_LENGTH]
        items.append(LineItem(product, order_id, expires_at, auto_renew))
    return items


def _parse_order(body: Mapping[str, Any]) -> Order | None:
    try:
        if body["state"] in UNSETTLED_ORDER_STATES:
            return None
        paid, currency = _parse_money(body["total"])
        if body["state"] == CANCELED_ORDER_STATE:
            return Order(Decimal(0), currency)
        history = body.get("orderHistory") or {}
        if refund := history.get("refundEvent"):
            details = refund.get("refundDetails") or {}
            amount, _ = _parse_money(details.get("total") or body["total"])
            return Order(paid, currency, amount, _parse_time(refund["eventTime"]))
        refunded, last = Decimal(0), None
        for part in history.get("partialRefundEvents") or []:
            if part["state"] == PROCESSED_REFUND_STATE:
                refunded += _parse_money(part["refundDetails"]["total"])[0]
                time = _parse_time(part["processTime"])
                last = max(last or time, time)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        logger.warning("google play: unreadable order")
        raise ProviderUnavailableError from None
    return Order(paid, currency, refunded, last)


def _parse_money(money: Mapping[str, Any]) -> tuple[Decimal, str]:
    currency = str(money["currencyCode"])
    units, nanos = int(money.get("units") or 0), int(money.get("nanos") or 0)
    amount = Decimal(units) + Decimal(nanos).scaleb(-9)
    is_usable = 0 <= amount < MAX_ORDER_AMOUNT and _CURRENCY_RE.fullmatch(currency)
    if not is_usable:
        raise ValueError
    return amount, currency


def _parse_time(text: str) -> datetime:
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError
    return time


def _quote(text: str) -> str:
    return quote(text, safe="")
