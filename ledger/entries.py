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
from core.errors import InvalidField, ProviderUnavailable
from ledger.categories import resolve_category
from ledger.locking import share_ledger
from ledger.models import Entry, EntryTag, Tag, Wallet
from ledger.models.base import EntryType
from ledger.ownership import find_owned
from ledger.rates import KnownRates, write_with_rates
from ledger.tags import resolve_tags
from ledger.wallets import refuse_missing_wallet

RATE_STEP = Decimal("0.00000001")
RATE_LIMIT = Decimal(10**12)
"""Rates have up to twelve digits before the point."""
_EXACT = Context(prec=60)
_CURRENCY_FIELDS = frozenset({"currency", "original_amount", "exchange_rate"})


@dataclass(frozen=True, slots=True)
class Draft:
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


def record_entry(member: Member, draft: Draft, now: datetime) -> int:
    """Write a new confirmed entry; its id.

    Raises `InvalidField` for what cannot be converted or paid in installments, and
    `ProviderUnavailable` where neither a rate nor an amount can be had.
    """
    draft = write_with_rates(lambda rates: settle(draft, rates=rates))
    with transaction.atomic():
        share_ledger(member)
        check_installments(draft)
        entry = Entry(member=member, created_at=now)
        tags = _fill(entry, draft, now)
        with refuse_missing_wallet("account_entry_wallet_owned"):
            entry.save(force_insert=True)
        _link_tags(entry, tags)
    return int(entry.pk)


def write_pending(
    member: Member, draft: Draft, now: datetime, rates: KnownRates
) -> int:
    """Write an entry that waits to be confirmed, in the caller's transaction; its id.

    Where no rate can be had, its amount is 0 until one is given (contract,
    Notification results). May raise `RateNeeded`.
    """
    entry = Entry(member=member, created_at=now, pending=True)
    _fill(entry, _settle_pending(draft, rates), now)
    entry.save(force_insert=True)
    return int(entry.pk)


def change_entry(
    member: Member, entry_id: int, changes: dict[str, Any], now: datetime
) -> None:
    """Change what `changes` names; a pending entry stays pending."""

    def write(rates: KnownRates) -> None:
        with transaction.atomic():
            entry = _lock(member, entry_id)
            _change(entry, changes, now, rates)

    write_with_rates(write)


def confirm_entry(
    member: Member, entry_id: int, corrections: dict[str, Any], now: datetime
) -> None:
    """Confirm a pending entry, with corrections; twice is without effect.

    One that came without a rate needs an amount first (contract, Notification
    results).
    """

    def write(rates: KnownRates) -> None:
        with transaction.atomic():
            entry = _lock(member, entry_id)
            if entry.pending:
                _change(entry, corrections, now, rates, confirms=True)

    write_with_rates(write)


def delete_entry(member: Member, entry_id: int) -> None:
    with transaction.atomic():
        _lock(member, entry_id).delete()


def settle(
    draft: Draft, changed: Iterable[str] = (), *, rates: KnownRates | None = None
) -> Draft:
    """Make amount, currency, original amount and rate agree.

    A home-currency entry has only an amount. A foreign one keeps its original
    amount and rate; a missing rate is that of its day, a missing amount the product,
    rounded half up (service.md, Ledger, rule 2). Where the rate cannot be had, or
    without `rates`, it follows from an amount that is given.
    """
    if draft.amount == 0:
        raise InvalidField("amount", "This is at least 1.", "min_value")
    currency, original_amount = draft.currency, draft.original_amount
    if currency is None or currency == settings.HOME_CURRENCY:
        return _settle_home(draft)
    if original_amount is None:
        raise InvalidField("originalAmount", "A foreign entry needs it.", "required")
    if _CURRENCY_FIELDS & set(changed) and "amount" not in changed:
        draft = replace(draft, amount=None)
    if draft.exchange_rate is None:
        rate = _find_rate(draft, currency, original_amount, rates)
        draft = replace(draft, exchange_rate=rate)
    if draft.amount is None and draft.exchange_rate is not None:
        amount = convert(original_amount, draft.exchange_rate)
        draft = replace(draft, amount=amount)
    return draft


def convert(original_amount: Decimal, exchange_rate: Decimal) -> int:
    """The home-currency amount, rounded half up to whole units."""
    product = _EXACT.multiply(original_amount, exchange_rate)
    amount = int(product.quantize(Decimal(1), ROUND_HALF_UP, _EXACT))
    if not 1 <= amount <= MAX_AMOUNT:
        raise InvalidField("amount", f"Converted, it is not 1 to {MAX_AMOUNT}.")
    return amount


def check_installments(draft: Draft) -> None:
    """Installments are for card expenses only (service.md, Ledger, rule 3)."""
    if draft.installment_months is None:
        return
    by_card = (
        draft.wallet is not None
        and Wallet.objects.filter(pk=draft.wallet.pk, kind=Wallet.Kind.CARD).exists()
    )
    if draft.type != EntryType.EXPENSE or not by_card:
        raise InvalidField("installmentMonths", "Only an expense by CARD has these.")


def _settle_pending(draft: Draft, rates: KnownRates) -> Draft:
    """A printed home amount tells the rate; else the day's converts, or none does."""
    try:
        return settle(draft, rates=None if draft.amount else rates)
    except (ProviderUnavailable, InvalidField):
        return replace(draft, amount=draft.amount or 0, exchange_rate=None)


def _settle_home(draft: Draft) -> Draft:
    if not draft.amount:
        raise InvalidField("amount", "This field is required.", "required")
    return replace(draft, currency=None, original_amount=None, exchange_rate=None)


def _find_rate(
    draft: Draft, currency: str, original_amount: Decimal, rates: KnownRates | None
) -> Decimal:
    rate = rates.read(currency, draft.date) if rates else None
    if rate is None and rates and not draft.amount:
        raise ProviderUnavailable("There is no exchange rate; give it or the amount.")
    return rate or _derive_rate(draft.amount, original_amount)


def _derive_rate(amount: int | None, original_amount: Decimal) -> Decimal:
    if not amount:
        raise InvalidField("exchangeRate", "Give the rate or the amount.", "required")
    rate = _EXACT.divide(Decimal(amount), original_amount)
    rate = rate.quantize(RATE_STEP, ROUND_HALF_UP, _EXACT)
    if not 0 < rate < RATE_LIMIT:
        raise InvalidField("amount", "This does not fit the original amount.")
    return rate


def _lock(member: Member, entry_id: int) -> Entry:
    share_ledger(member)
    rows = Entry.objects.select_for_update(no_key=True)
    entry: Entry = find_owned(rows, member, entry_id)
    return entry


def _change(
    entry: Entry,
    changes: dict[str, Any],
    now: datetime,
    rates: KnownRates,
    *,
    confirms: bool = False,
) -> None:
    draft = _apply(changes, entry)
    if not _awaits_amount(entry, draft):
        draft = settle(draft, changes, rates=rates)
    elif confirms:
        raise InvalidField("amount", "Without a rate it is needed.", "required")
    check_installments(draft)
    entry.pending = entry.pending and not confirms
    tags = _fill(entry, draft, now)
    with refuse_missing_wallet("account_entry_wallet_owned"):
        entry.save()
    if "tags" in changes:
        EntryTag.objects.filter(entry=entry).delete()
        _link_tags(entry, tags)


def _apply(changes: dict[str, Any], entry: Entry) -> Draft:
    """The entry as it is to be; a rate stays only with its currency."""
    draft = replace(_draft_of(entry), **changes)
    if draft.currency != entry.currency and "exchange_rate" not in changes:
        draft = replace(draft, exchange_rate=None)
    if entry.amount == 0 and draft.amount == 0:
        draft = replace(draft, amount=None)
    return draft


def _awaits_amount(entry: Entry, draft: Draft) -> bool:
    """One that came without a rate stays so until an amount or a rate is given."""
    return (
        entry.amount == 0
        and draft.amount is None
        and draft.currency is not None
        and draft.original_amount is not None
        and draft.exchange_rate is None
    )


def _draft_of(entry: Entry) -> Draft:
    return Draft(
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


def _fill(entry: Entry, draft: Draft, now: datetime) -> list[Tag]:
    """Put the draft into the row; the tags to link once the row has an id."""
    entry.date = draft.date
    entry.type = draft.type
    entry.amount = draft.amount or 0
    entry.category = resolve_category(entry.member, draft.type, draft.category)
    entry.wallet = draft.wallet
    entry.memo = draft.memo
    entry.currency = draft.currency
    entry.original_amount = draft.original_amount
    entry.exchange_rate = draft.exchange_rate
    entry.installment_months = draft.installment_months
    entry.updated_at = now
    return resolve_tags(entry.member, draft.tags)


def _link_tags(entry: Entry, tags: list[Tag]) -> None:
    EntryTag.objects.bulk_create(
        EntryTag(entry=entry, tag=tag, member_id=entry.member_id, position=position)
        for position, tag in enumerate(tags)
    )
