"""Entries: what is written, how it is converted, how it is confirmed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.errors import InvalidFieldError, ProviderUnavailableError
from ledger.categories import get_or_create_category
from ledger.locking import lock_ledger_shared
from ledger.models import Entry, EntryTag, Tag, Wallet
from ledger.models.base import EntryType
from ledger.ownership import get_owned_or_404
from ledger.rates import RateCache, retry_with_rates
from ledger.tags import get_or_create_tags
from ledger.wallets import raise_on_missing_wallet

RATE_QUANTUM = Decimal("0.00000001")
MAX_RATE = Decimal(10**12)
"""Rates have up to twelve digits before the point."""
_EXACT = Context(prec=60)
_CURRENCY_FIELDS = frozenset({"currency", "original_amount", "exchange_rate"})


@dataclass(frozen=True, slots=True)
class EntryData:
    """An entry as the member means it; names instead of rows.

    `amount` is in whole home-currency units, None to have it converted.
    """

    date: date
    type: str
    amount: int | None = None
    category: str | None = None
    wallet: Wallet | None = None
    memo: str = ""
    tags: tuple[str, ...] = ()
    currency: str | None = None
    original_amount: Decimal | None = None
    exchange_rate: Decimal | None = None
    installment_months: int | None = None


def create_entry(member: Member, draft: EntryData, now: datetime) -> int:
    """Write a new confirmed entry; its id.

    Raises `InvalidFieldError` for what cannot be converted or paid in installments, and
    `ProviderUnavailableError` where neither a rate nor an amount can be had.
    """
    draft = retry_with_rates(lambda rates: resolve_amounts(draft, rates=rates))
    with transaction.atomic():
        lock_ledger_shared(member)
        validate_installments(draft)
        entry = Entry(member=member, created_at=now)
        tags = _assign_fields(entry, draft, now)
        with raise_on_missing_wallet("account_entry_wallet_owned"):
            entry.save(force_insert=True)
        _link_tags(entry, tags)
    return int(entry.pk)


def create_pending_entry(
    member: Member, draft: EntryData, now: datetime, rates: RateCache
) -> int:
    """Write an entry that waits to be confirmed, in the caller's transaction; its id.

    Where no rate can be had, its amount is 0 until one is given (spec 4.4). May raise
    `RateNeeded`.
    """
    entry = Entry(member=member, created_at=now, pending=True)
    _assign_fields(entry, _resolve_pending_amounts(draft, rates), now)
    entry.save(force_insert=True)
    return int(entry.pk)


def update_entry(
    member: Member, entry_id: int, changes: dict[str, Any], now: datetime
) -> None:
    """Change what `changes` names; a pending entry stays pending."""

    def write(rates: RateCache) -> None:
        with transaction.atomic():
            entry = _lock_entry(member, entry_id)
            _update_entry(entry, changes, now, rates)

    retry_with_rates(write)


def confirm_entry(
    member: Member, entry_id: int, corrections: dict[str, Any], now: datetime
) -> None:
    """Confirm a pending entry, with corrections; twice is without effect.

    One that came without a rate needs an amount first (spec 4.4).
    """

    def write(rates: RateCache) -> None:
        with transaction.atomic():
            entry = _lock_entry(member, entry_id)
            if entry.pending:
                _update_entry(entry, corrections, now, rates, confirms=True)

    retry_with_rates(write)


def delete_entry(member: Member, entry_id: int) -> None:
    with transaction.atomic():
        _lock_entry(member, entry_id).delete()


def resolve_amounts(
    draft: EntryData, changed: Iterable[str] = (), *, rates: RateCache | None = None
) -> EntryData:
    """Make amount, currency, original amount and rate agree.

    A home-currency entry has only an amount. A foreign one keeps its original
    amount and rate; a missing rate is that of its day, a missing amount the product,
    rounded half up (spec 3.6). Where the rate cannot be had, or
    without `rates`, it follows from an amount that is given.
    """
    if draft.amount == 0:
        raise InvalidFieldError("amount", "This is at least 1.", "min_value")
    currency, original_amount = draft.currency, draft.original_amount
    if currency is None or currency == settings.HOME_CURRENCY:
        return _resolve_home_currency(draft)
    if original_amount is None:
        raise InvalidFieldError(
            "originalAmount", "A foreign entry needs it.", "required"
        )
    if _CURRENCY_FIELDS & set(changed) and "amount" not in changed:
        draft = replace(draft, amount=None)
    if draft.exchange_rate is None:
        rate = _get_rate(draft, currency, original_amount, rates)
        draft = replace(draft, exchange_rate=rate)
    if draft.amount is None and draft.exchange_rate is not None:
        amount = convert_to_home_currency(original_amount, draft.exchange_rate)
        draft = replace(draft, amount=amount)
    return draft


def convert_to_home_currency(original_amount: Decimal, exchange_rate: Decimal) -> int:
    """The home-currency amount, rounded half up to whole units."""
    product = _EXACT.multiply(original_amount, exchange_rate)
    amount = int(product.quantize(Decimal(1), ROUND_HALF_UP, _EXACT))
    if not 1 <= amount <= MAX_AMOUNT:
        raise InvalidFieldError("amount", f"Converted, it is not 1 to {MAX_AMOUNT}.")
    return amount


def validate_installments(draft: EntryData) -> None:
    """Installments are for card expenses only (spec 3.4)."""
    if draft.installment_months is None:
        return
    by_card = (
        draft.wallet is not None
        and Wallet.objects.filter(pk=draft.wallet.pk, kind=Wallet.Kind.CARD).exists()
    )
    if draft.type != EntryType.EXPENSE or not by_card:
        raise InvalidFieldError(
            "installmentMonths", "Only an expense by CARD has these."
        )


def _resolve_pending_amounts(draft: EntryData, rates: RateCache) -> EntryData:
    """A printed home amount tells the rate; else the day's converts, or none does."""
    try:
        return resolve_amounts(draft, rates=None if draft.amount else rates)
    except (ProviderUnavailableError, InvalidFieldError):
        return replace(draft, amount=draft.amount or 0, exchange_rate=None)


def _resolve_home_currency(draft: EntryData) -> EntryData:
    if not draft.amount:
        raise InvalidFieldError("amount", "This field is required.", "required")
    return replace(draft, currency=None, original_amount=None, exchange_rate=None)


def _get_rate(
    draft: EntryData, currency: str, original_amount: Decimal, rates: RateCache | None
) -> Decimal:
    rate = rates.get(currency, draft.date) if rates else None
    if rate is None and rates and not draft.amount:
        raise ProviderUnavailableError(
            "There is no exchange rate; give it or the amount."
        )
    return rate or _derive_rate(draft.amount, original_amount)


def _derive_rate(amount: int | None, original_amount: Decimal) -> Decimal:
    if not amount:
        raise InvalidFieldError(
            "exchangeRate", "Give the rate or the amount.", "required"
        )
    rate = _EXACT.divide(Decimal(amount), original_amount)
    rate = rate.quantize(RATE_QUANTUM, ROUND_HALF_UP, _EXACT)
    if not 0 < rate < MAX_RATE:
        raise InvalidFieldError("amount", "This does not fit the original amount.")
    return rate


def _lock_entry(member: Member, entry_id: int) -> Entry:
    lock_ledger_shared(member)
    rows = Entry.objects.select_for_update(no_key=True)
    entry: Entry = get_owned_or_404(rows, member, entry_id)
    return entry


def _update_entry(
    entry: Entry,
    changes: dict[str, Any],
    now: datetime,
    rates: RateCache,
    *,
    confirms: bool = False,
) -> None:
    draft = _merge_changes(changes, entry)
    if not _is_awaiting_rate(entry, draft):
        draft = resolve_amounts(draft, changes, rates=rates)
    elif confirms:
        raise InvalidFieldError("amount", "Without a rate it is needed.", "required")
    validate_installments(draft)
    entry.pending = entry.pending and not confirms
    tags = _assign_fields(entry, draft, now)
    with raise_on_missing_wallet("account_entry_wallet_owned"):
        entry.save()
    if "tags" in changes:
        EntryTag.objects.filter(entry=entry).delete()
        _link_tags(entry, tags)


def _merge_changes(changes: dict[str, Any], entry: Entry) -> EntryData:
    """The entry as it is to be; a rate stays only with its currency."""
    draft = replace(_to_entry_data(entry), **changes)
    if draft.currency != entry.currency and "exchange_rate" not in changes:
        draft = replace(draft, exchange_rate=None)
    if entry.amount == 0 and draft.amount == 0:
        draft = replace(draft, amount=None)
    return draft


def _is_awaiting_rate(entry: Entry, draft: EntryData) -> bool:
    """One that came without a rate stays so until an amount or a rate is given."""
    return (
        entry.amount == 0
        and draft.amount is None
        and draft.currency is not None
        and draft.original_amount is not None
        and draft.exchange_rate is None
    )


def _to_entry_data(entry: Entry) -> EntryData:
    return EntryData(
        date=entry.date,
        type=entry.type,
        amount=entry.amount,
        category=entry.category.name if entry.category else None,
        wallet=entry.wallet,
        memo=entry.memo,
        currency=entry.currency,
        original_amount=entry.original_amount,
        exchange_rate=entry.exchange_rate,
        installment_months=entry.installment_months,
    )


def _assign_fields(entry: Entry, draft: EntryData, now: datetime) -> list[Tag]:
    """Put the draft into the row; the tags to link once the row has an id."""
    entry.date = draft.date
    entry.type = draft.type
    entry.amount = draft.amount or 0
    entry.category = get_or_create_category(entry.member, draft.type, draft.category)
    entry.wallet = draft.wallet
    entry.memo = draft.memo
    entry.currency = draft.currency
    entry.original_amount = draft.original_amount
    entry.exchange_rate = draft.exchange_rate
    entry.installment_months = draft.installment_months
    entry.updated_at = now
    return get_or_create_tags(entry.member, draft.tags)


def _link_tags(entry: Entry, tags: list[Tag]) -> None:
    EntryTag.objects.bulk_create(
        EntryTag(entry=entry, tag=tag, member_id=entry.member_id, position=position)
        for position, tag in enumerate(tags)
    )
