"""Interface of app stores, and the stub."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from django.conf import settings

from billing.errors import InvalidPurchaseError
from billing.products import Product
from core.http_client import load_provider

TEST_STORE = "test"
TEST_TOKEN_PREFIX = "test-"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Subscription:
    """A store's response for one purchase token.

    Without `expires_at` the product's period counts. An upgrade has a `replaced_token`.
    A purchase from outside of the app names the buyer by the last subscription.
    """

    store: str
    token: str
    order_id: str
    product: Product
    auto_renew: bool
    expires_at: datetime | None = None
    is_entitled: bool = True
    is_acknowledged: bool = True
    state: str = ""
    replaced_token: str = ""
    obfuscated_account_id: str = ""
    is_out_of_app: bool = False
    expired_token: str = ""
    expired_account_id: str = ""

    @property
    def token_hash(self) -> str:
        return hash_token(self.token)

    @property
    def replaced_token_hash(self) -> str:
        return hash_token(self.replaced_token)


@dataclass(frozen=True, slots=True)
class Order:
    paid_amount: Decimal
    currency: str
    refunded_amount: Decimal = Decimal(0)
    refunded_at: datetime | None = None


class StoreVerifier(Protocol):
    """A store; the constructor takes no arguments.

    Methods make an HTTP request and raise `InvalidPurchaseError` for an unknown token,
    or `ProviderUnavailableError`. Call them outside of transactions.
    """

    store: str
    package: str
    # False if it verifies new purchases only.
    can_refresh: bool

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        """Return it; raise `InvalidPurchaseError` for another product."""
        ...

    def fetch_order(self, order_id: str) -> Order | None:
        """Return payment and refunds, None while either is under way."""
        ...

    def acknowledge(self, token: str, product_id: str, account_id: str = "") -> None:
        """Confirm the delivery, or Google refunds it after three days.

        `account_id` names the buyer of a purchase from outside of the app.
        """
        ...

    def stop_renewal(self, token: str, product_id: str) -> None:
        """Cancel auto-renewal; the paid period stays."""
        ...


class StubVerifier:
    """Without a store purchases are invalid (spec 6.4)."""

    store = "none"
    package = ""
    can_refresh = False

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        raise InvalidPurchaseError

    def _refuse(self, *args: object, **options: object) -> Any:
        raise InvalidPurchaseError

    fetch_order = acknowledge = stop_renewal = _refuse


def load_verifier() -> StoreVerifier:
    verifier: StoreVerifier = load_provider("STORE_VERIFIER")
    return verifier


def verify_token(token: str, product: Product) -> Subscription:
    """Return a token's subscription; in test mode `test-…` has one (spec 6.4)."""
    if settings.BILLING_TEST_MODE and token.startswith(TEST_TOKEN_PREFIX):
        return Subscription(TEST_STORE, token, token, product, auto_renew=True)
    # Tokens become a part of the URL.
    if not (token.isascii() and token.isprintable()):
        raise InvalidPurchaseError
    return load_verifier().fetch_subscription(token, product)


def hash_token(token: str) -> str:
    """Return the SHA-256 in hex; "" stays ""."""
    encoded = token.encode("utf-8", "backslashreplace")
    return hashlib.sha256(encoded).hexdigest() if token else ""
