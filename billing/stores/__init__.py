"""Who confirms purchases: the verifier of STORE_VERIFIER, and tokens for tests."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.conf import settings

from billing.errors import InvalidPurchaseError
from billing.products import Product
from core.http_client import load_provider

TEST_STORE = "test"
TEST_PREFIX = "test-"


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a store says about one purchase token.

    Without `expires_at` the store leaves it to us to count the period. `replaces` is
    the token that this one took the place of, `account` what the app told the store
    about the buyer.
    """

    store: str
    token: str
    order_id: str
    product: Product
    auto_renew: bool
    expires_at: datetime | None = None
    is_entitled: bool = True
    acknowledged: bool = True
    state: str = ""
    replaced_token: str = ""
    obfuscated_account_id: str = ""


class StoreVerifier(Protocol):
    """What STORE_VERIFIER names: a class that is made without arguments.

    Every method asks the store, so none may be called inside a transaction. They
    raise `InvalidPurchaseError` for a token that the store does not know or has ended,
    and `ProviderUnavailable` when it does not answer.
    """

    store: str
    package: str
    """The application whose purchases count."""
    can_refresh: bool
    """Whether it tells, at any time, what has become of a purchase."""

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        """What the token stands for; `product` is what it must be for, if given."""
        ...

    def acknowledge(self, token: str, product_id: str) -> None:
        """Tell the store that the purchase has arrived, lest it be refunded."""
        ...

    def stop_renewal(self, token: str, product_id: str) -> None:
        """Have the store charge no more after the time that is paid for."""
        ...


class StubVerifier:
    """The default until a store is set up: it confirms nothing."""

    store = "none"
    package = ""
    can_refresh = False

    def fetch_subscription(
        self, token: str, product: Product | None = None
    ) -> Subscription:
        raise InvalidPurchaseError

    def acknowledge(self, token: str, product_id: str) -> None:
        raise InvalidPurchaseError

    def stop_renewal(self, token: str, product_id: str) -> None:
        raise InvalidPurchaseError


def load_verifier() -> StoreVerifier:
    verifier: StoreVerifier = load_provider("STORE_VERIFIER")
    return verifier


def verify_token(token: str, product: Product) -> Subscription:
    """What a presented token stands for.

    In test mode one that begins with `test-` is an order of its own that renews
    itself; the verifier is not asked about it (spec 6.4).
    """
    if settings.BILLING_TEST_MODE and token.startswith(TEST_PREFIX):
        return Subscription(TEST_STORE, token, token, product, auto_renew=True)
    if not (token.isascii() and token.isprintable()):
        raise InvalidPurchaseError
    return load_verifier().fetch_subscription(token, product)


def hash_token(token: str) -> str:
    """What a token is found and locked by; "" stays ""."""
    encoded = token.encode("utf-8", "backslashreplace")
    return hashlib.sha256(encoded).hexdigest() if token else ""
