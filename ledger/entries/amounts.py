"""Amounts in the home currency, and exchange rates (spec 3.6)."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from django.conf import settings
from django.utils.translation import gettext

from core.api.fields import MAX_AMOUNT
from core.errors import InvalidFieldError, ProviderUnavailableError
from ledger.currencies.codes import MAX_RATE, apply_rate, compute_rate
from ledger.currencies.rates import RateCache
from ledger.entry_shape import EntryShape

CURRENCY_FIELDS = frozenset({"currency", "original_amount", "exchange_rate"})


def resolve_amounts(
    shape: EntryShape, changed: Iterable[str] = (), *, rates: RateCache | None = None
) -> EntryShape:
    """Return `shape` with amount, currency, original amount and rate in agreement.

    A missing rate is the rate of the day; without one, or without `rates`, it is
    derived from the amount. A missing amount is converted, rounded half up. `changed`
    names the fields of an update.
    """
    if shape.amount == 0:
        raise InvalidFieldError("amount", gettext("Must be at least 1."), "min_value")
    currency, original_amount = shape.currency, shape.original_amount
    if currency is None or currency == settings.HOME_CURRENCY:
        if shape.amount is None:
            raise InvalidFieldError(
                "amount", gettext("This field is required."), "required"
            )
        if (currency, shape.original_amount, shape.exchange_rate) == (None, None, None):
            return shape
        return replace(shape, currency=None, original_amount=None, exchange_rate=None)
    if original_amount is None:
        raise InvalidFieldError(
            "originalAmount",
            gettext("Required for entries in a foreign currency."),
            "required",
        )
    amount = shape.amount
    # The stored amount no longer fits a new currency, original amount or rate.
    if CURRENCY_FIELDS & set(changed) and "amount" not in changed:
        amount = None
    rate = shape.exchange_rate or _find_rate(shape, original_amount, amount, rates)
    if amount is None:
        amount = convert_to_home_currency(original_amount, rate)
    return replace(shape, amount=amount, exchange_rate=rate)


def estimate_amounts(shape: EntryShape, rates: RateCache) -> EntryShape:
    """Return a pending entry with amount and rate.

    Without a known rate the amount is 0 until the member gives one (spec 4.4).
    """
    amount, rate = shape.amount or 0, shape.exchange_rate
    currency, original_amount, day = shape.currency, shape.original_amount, shape.date
    if currency is None or original_amount is None or day is None:
        return replace(shape, amount=amount)
    if not amount:
        rate = rate or rates.get(currency, day)
        amount = apply_rate(original_amount, rate) if rate else 0
    elif not rate:
        # A printed amount yields the rate of the payment.
        rate = compute_rate(amount, original_amount)
    if not (rate and 0 < rate < MAX_RATE and 1 <= amount <= MAX_AMOUNT):
        amount, rate = shape.amount or 0, None
    return replace(shape, amount=amount, exchange_rate=rate)


def convert_to_home_currency(original_amount: Decimal, exchange_rate: Decimal) -> int:
    amount = apply_rate(original_amount, exchange_rate)
    if not 1 <= amount <= MAX_AMOUNT:
        detail = gettext("The converted amount must be between 1 and {maximum}.")
        raise InvalidFieldError("amount", detail.format(maximum=MAX_AMOUNT))
    return amount


def _find_rate(
    shape: EntryShape,
    original_amount: Decimal,
    amount: int | None,
    rates: RateCache | None,
) -> Decimal:
    rate = None
    if rates is not None and shape.currency is not None and shape.date is not None:
        rate = rates.get(shape.currency, shape.date)
    if rate is not None:
        return rate
    if amount is None:
        if rates is not None:
            raise ProviderUnavailableError(
                gettext(
                    "The exchange rate is currently unavailable. "
                    "Provide `exchangeRate` or `amount`."
                )
            )
        raise InvalidFieldError(
            "exchangeRate",
            gettext(
                "`exchangeRate` or `amount` is required for entries in a foreign "
                "currency."
            ),
            "required",
        )
    rate = compute_rate(amount, original_amount)
    if not 0 < rate < MAX_RATE:
        raise InvalidFieldError(
            "amount", gettext("The amount does not match originalAmount.")
        )
    return rate
