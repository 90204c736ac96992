"""The interface of app stores, the stub, and the tokens of the test mode.

STORE_VERIFIER is the dotted path of the store's class.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from django.conf import settings

from billing.errors import InvalidPurchaseError
from billing.products import Product
from core.http_client import load_provider

TEST_STORE = "test"
TEST_TOKEN_PREFIX = "test-"  # noqa: S105


@dataclass(frozen=True, slots=True)
class Subscription:
    """The store's response for one purchase token.

    Without `expires_at` the period is counted here, from the product. `replaced_token`
    is the token whose place this one took (an upgrade, a new sign-up), and
    `obfuscated_account_id` the buyer as the app named them to the store. Of a purchase
    that was made outside of the app, and is not acknowledged yet, `expired_token` and
    `expired_account_id` are those of the buyer's last subscription.
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
    """The payment of one order, in the buyer's currency, with taxes and discounts.

    `refunded_amount` is the sum of all refunds, `refunded_at` the time of the last.
    """

    paid_amount: Decimal
    currency: str
    refunded_amount: Decimal = Decimal(0)
    refunded_at: datetime | None = None


class StoreVerifier(Protocol):
    """Interface of a store; the class has a constructor without arguments.

    Each method makes an HTTP request, so none may be called inside a transaction. They
    raise `InvalidPurchaseError` for a token that the store does not know or has ended,
    and `ProviderUnavailableError` if the store gives no usable response.
    """

    # The value of `Purchase.store`.
    store: str
    # The id of the application whose purchases are accepted.
    package: str
    # False if the store can verify a purchase only when it is made.
    can_refresh: bool

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        """Return the current state of the token's subscription.

        Raises `InvalidPurchaseError` if `product` is given and is not what was bought.
        """
        ...

    def fetch_order(self, order_id: str) -> Order | None:
        """Return what was paid for an order, and what was refunded of it.

        Return None while the payment or a refund is under way.
        """
        ...

    def acknowledge(self, token: str, product_id: str, account_id: str = "") -> None:
        """Confirm to the store that the purchase was delivered.

        `account_id` names the buyer of a purchase that was made outside of the app.
        Google refunds purchases that are not acknowledged within three days.
        """
        ...

    def stop_renewal(self, token: str, product_id: str) -> None:
        """Cancel auto-renewal at the store; the paid period is not affected."""
        ...


class StubVerifier:
    """The default while no store is set up: every purchase is invalid (spec 6.4)."""

    store = "none"
    package = ""
    can_refresh = False

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        raise InvalidPurchaseError

    def fetch_order(self, order_id: str) -> Order | None:
        raise InvalidPurchaseError

    def acknowledge(self, token: str, product_id: str, account_id: str = "") -> None:
        raise InvalidPurchaseError

    def stop_renewal(self, token: str, product_id: str) -> None:
        raise InvalidPurchaseError


def load_verifier() -> StoreVerifier:
    """Return an instance of the STORE_VERIFIER class."""
    verifier: StoreVerifier = load_provider("STORE_VERIFIER")
    return verifier


def verify_token(token: str, product: Product) -> Subscription:
    """Return the subscription that a member presents by its token.

    In test mode a token that begins with `test-` is an order of its own that renews
    itself; the verifier is not asked (spec 6.4).
    """
    if settings.BILLING_TEST_MODE and token.startswith(TEST_TOKEN_PREFIX):
        return Subscription(TEST_STORE, token, token, product, auto_renew=True)
    # Tokens become a part of the store's URL: reject what none of them contains.
    if not (token.isascii() and token.isprintable()):
        raise InvalidPurchaseError
    return load_verifier().fetch_subscription(token, product)


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token in hex, which rows and locks use; "" stays ""."""
    encoded = token.encode("utf-8", "backslashreplace")
    return hashlib.sha256(encoded).hexdigest() if token else ""
