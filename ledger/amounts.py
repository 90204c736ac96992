"""Amounts of entries in the home currency, and of foreign ones (spec 3.6)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from decimal import Decimal

from django.conf import settings
from django.utils.translation import gettext

from core.api.fields import MAX_AMOUNT
from core.errors import InvalidFieldError, ProviderUnavailableError
from ledger.currencies import MAX_RATE, apply_rate, compute_rate
from ledger.entry_data import EntryData
from ledger.rates import RateCache

_CURRENCY_FIELDS = frozenset({"currency", "original_amount", "exchange_rate"})


def resolve_amounts(
    data: EntryData, changed: Iterable[str] = (), *, rates: RateCache | None = None
) -> EntryData:
    """Return `data` with amount, currency, original amount and rate in agreement.

    A home-currency entry has only an amount. A foreign entry keeps its original amount
    and its rate. A missing rate is that of the day; without one, or without `rates`, it
    is derived from the amount. A missing amount is converted, rounded half up to whole
    units (spec 3.6). `changed` names the fields of an update.
    """
    if data.amount == 0:
        raise InvalidFieldError("amount", gettext("Must be at least 1."), "min_value")
    currency, original_amount = data.currency, data.original_amount
    if currency is None or currency == settings.HOME_CURRENCY:
        if data.amount is None:
            raise InvalidFieldError(
                "amount", gettext("This field is required."), "required"
            )
        return replace(data, currency=None, original_amount=None, exchange_rate=None)
    if original_amount is None:
        raise InvalidFieldError(
            "originalAmount",
            gettext("Required for entries in a foreign currency."),
            "required",
        )
    amount = data.amount
    # The stored amount no longer fits a new currency, original amount or rate.
    if _CURRENCY_FIELDS & set(changed) and "amount" not in changed:
        amount = None
    rate = data.exchange_rate or _find_rate(
        currency, data.date, original_amount, amount, rates
    )
    if amount is None:
        amount = convert_to_home_currency(original_amount, rate)
    return replace(data, amount=amount, exchange_rate=rate)


def convert_to_home_currency(original_amount: Decimal, exchange_rate: Decimal) -> int:
    """Return the amount in whole home-currency units, rounded half up.

    Raises `InvalidFieldError` if it is out of range.
    """
    amount = apply_rate(original_amount, exchange_rate)
    if not 1 <= amount <= MAX_AMOUNT:
        detail = gettext("The converted amount must be between 1 and {maximum}.")
        raise InvalidFieldError("amount", detail.format(maximum=MAX_AMOUNT))
    return amount


def _find_rate(
    currency: str,
    day: date,
    original_amount: Decimal,
    amount: int | None,
    rates: RateCache | None,
) -> Decimal:
    """Return the rate of the day, else the one at which the amounts convert."""
    rate = rates.get(currency, day) if rates is not None else None
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
