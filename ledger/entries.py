"""Create, update, confirm and delete entries, and convert foreign amounts."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from accounts.models import Member
from core.api.fields import MAX_AMOUNT
from core.db.locks import AdvisoryLock, make_lock_key
from core.db.rows import prepared_cursor
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, ProviderUnavailableError
from ledger.categories import get_or_create_category
from ledger.currencies import MAX_RATE, apply_rate, compute_rate
from ledger.locking import lock_ledger
from ledger.models import Category, Entry, EntryTag, Tag, Wallet
from ledger.models.base import EntryType, OwnedQuerySet
from ledger.moves import raise_if_moving, raise_if_wallet_is_moving
from ledger.ownership import get_owned_or_404
from ledger.rates import RateCache, retry_with_rates
from ledger.tags import get_or_create_tags
from ledger.taught_layouts import forget_text, learn_and_forget
from ledger.wallets import make_missing_wallet_error, raise_on_missing_wallet

_CREATE_ENTRY = """
    SELECT account_create_entry(
        %s::bigint, %s::int, %s::int, %s::date, %s::text, %s::bigint, %s::text,
        %s::bigint, %s::text, %s::text[], %s::text, %s::numeric, %s::numeric,
        %s::smallint, %s::boolean, %s::timestamptz
    )
"""
_CURRENCY_FIELDS = frozenset({"currency", "original_amount", "exchange_rate"})


@dataclass(frozen=True, slots=True)
class EntryData:
    """The values of an entry, with category and tags by name.

    `amount` is in whole home-currency units; None to convert `original_amount`.
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


# Fields that an entry and its data share; categories and tags are rows there, names
# here.
_SHARED_FIELDS = tuple(
    field.name for field in fields(EntryData) if field.name not in ("category", "tags")
)


@retry_on_conflict
def create_entry(member: Member, data: EntryData, now: datetime) -> int:
    """Create a confirmed entry and return its id.

    Raises `InvalidFieldError` for amounts that cannot be converted and for installments
    that are not allowed, `ProviderUnavailableError` if a foreign entry has no amount
    and no rate is available, and `MovingError` for a wallet or category that moves.
    """
    data = retry_with_rates(lambda rates: resolve_amounts(data, rates=rates))
    # Installments depend on the kind of the wallet.
    if data.installment_months is None:
        entry_id = _create_with_known_names(member, data, now, is_pending=False)
        if entry_id is not None:
            return entry_id
    with transaction.atomic():
        lock_ledger(member)
        _validate_installments(data)
        entry = Entry(member=member, created_at=now)
        tags = _assign_data(entry, data, now)
        with raise_on_missing_wallet("account_entry_wallet_owned"):
            entry.save(force_insert=True)
        _link_tags(entry, tags)
    return int(entry.pk)


def _create_with_known_names(
    member: Member, data: EntryData, now: datetime, *, is_pending: bool
) -> int | None:
    """Create an entry in one statement, the usual case, and return its id.

    Return None if the category, the wallet or a tag is unknown, or one of the former
    two is moving.
    """
    with prepared_cursor() as cursor:
        cursor.execute(
            _CREATE_ENTRY,
            [
                *(member.pk, AdvisoryLock.LEDGER.value, make_lock_key(member.pk)),
                *(data.date, data.type, data.amount, data.category),
                *(data.wallet and data.wallet.pk, data.memo, list(data.tags)),
                *(data.currency, data.original_amount, data.exchange_rate),
                *(data.installment_months, is_pending, now),
            ],
        )
        entry_id: int | None = cursor.fetchone()[0]
    return entry_id


def create_pending_entry(
    member: Member, data: EntryData, now: datetime, rates: RateCache
) -> int:
    """Create an entry that awaits confirmation and return its id.

    Call under `lock_ledger`. Without an exchange rate the amount is 0 until the member
    gives one (spec 4.4). A wallet or category that is moving is replaced by the one
    that it moves to: the notification may come only once. May raise `MissingRateError`.
    """
    # A home-currency amount in the notification yields the rate of the payment; only
    # without one does the rate of the day convert.
    try:
        data = resolve_amounts(data, rates=None if data.amount else rates)
    except (ProviderUnavailableError, InvalidFieldError):
        data = replace(data, amount=data.amount or 0, exchange_rate=None)
    entry_id = _create_with_known_names(member, data, now, is_pending=True)
    if entry_id is not None:
        return entry_id
    entry = Entry(member=member, created_at=now, pending=True)
    _assign_data(entry, _follow_moves(member, data), now)
    entry.save(force_insert=True)
    return int(entry.pk)


def _is_rate_missing(entry: Entry, data: EntryData) -> bool:
    """Return True if an entry was created without a rate and still has none."""
    return (
        entry.amount == 0
        and data.amount is None
        and data.currency is not None
        and data.original_amount is not None
        and data.exchange_rate is None
    )


def update_entry(
    member: Member,
    entry_id: int,
    changes: dict[str, Any],
    now: datetime,
    *,
    confirm: bool = False,
) -> None:
    """Update the fields named in `changes`; a pending entry stays pending.

    With `confirm`, confirm a pending entry as well, and leave a confirmed one alone.
    Raises `MovingError` if a wallet or category, of before or of now, is moving.
    """

    @retry_on_conflict
    def write(rates: RateCache) -> None:
        with transaction.atomic():
            lock_ledger(member)
            entry = _get_entry(member, entry_id)
            if confirm and not entry.pending:
                return
            raise_if_moving(entry.wallet, entry.category)
            stored = {name: getattr(entry, name) for name in _SHARED_FIELDS}
            category = entry.category.name if entry.category else None
            data = replace(EntryData(category=category, **stored), **changes)
            # A rate belongs to its currency.
            if data.currency != entry.currency and "exchange_rate" not in changes:
                data = replace(data, exchange_rate=None)
            # Clients send an entry back as they read it; 0 is no amount to store.
            if entry.amount == 0 and data.amount == 0:
                data = replace(data, amount=None)
            if not _is_rate_missing(entry, data):
                data = resolve_amounts(data, changes, rates=rates)
            elif confirm:
                raise InvalidFieldError(
                    "amount",
                    gettext(
                        "`amount` or `exchangeRate` is required to confirm this entry."
                    ),
                    "required",
                )
            _validate_installments(data)
            was_pending, entry.pending = entry.pending, entry.pending and not confirm
            tags = _assign_data(entry, data, now)
            with raise_on_missing_wallet("account_entry_wallet_owned"):
                entry.save()
            if was_pending:
                learn_and_forget(entry, stored, now)
            if "tags" in changes:
                _list_tag_links(entry).delete()
                _link_tags(entry, tags)

    retry_with_rates(write)


def confirm_entry(
    member: Member, entry_id: int, corrections: dict[str, Any], now: datetime
) -> None:
    """Confirm a pending entry, with corrections; do nothing if it is confirmed.

    An entry that was created without a rate needs an amount or a rate (spec 4.4).
    """
    update_entry(member, entry_id, corrections, now, confirm=True)


@retry_on_conflict
def delete_entry(member: Member, entry_id: int) -> None:
    """Delete one entry of the member.

    Raises `MovingError` if its wallet or category is moving.
    """
    with transaction.atomic():
        lock_ledger(member)
        entry = _get_entry(member, entry_id)
        raise_if_moving(entry.wallet, entry.category)
        delete_locked_entry(entry)


def delete_locked_entry(entry: Entry) -> None:
    """Delete an entry; call under `lock_ledger`."""
    if entry.pending:
        forget_text(entry)
    # The tags first: the triggers take the amount of the entry off their totals.
    _list_tag_links(entry).delete()
    entry.delete()


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


def _validate_installments(data: EntryData) -> None:
    """Raise `InvalidFieldError` for installments of anything but a card expense.

    See spec 3.4.
    """
    if data.installment_months is None:
        return
    kind = None
    if data.wallet is not None:
        rows = Wallet.objects.filter(member_id=data.wallet.member_id)
        kind = rows.filter(pk=data.wallet.pk).values_list("kind", flat=True).first()
        if kind is None:
            raise make_missing_wallet_error()
    if data.type != EntryType.EXPENSE or kind != Wallet.Kind.CARD:
        raise InvalidFieldError(
            "installmentMonths",
            gettext("Installments are only allowed for card expenses."),
        )


def _get_entry(member: Member, entry_id: int) -> Entry:
    """Return the entry with its wallet and category; raise `NotFoundError`."""
    rows = Entry.objects.select_related("wallet", "category")
    entry: Entry = get_owned_or_404(rows, member, entry_id)
    return entry


def _follow_moves(member: Member, data: EntryData) -> EntryData:
    """Replace a wallet or category that is moving by the one that it moves to."""
    moving = {"member_id": member.pk, "moving_to__isnull": False}
    categories = Category.objects.filter(**moving).select_related("moving_to")
    category = categories.filter(type=data.type, name=data.category).first()
    if category is not None:
        data = replace(data, category=category.moving_to.name)
    wallets = Wallet.objects.filter(**moving).select_related("moving_to")
    wallet = wallets.filter(pk=data.wallet and data.wallet.pk).first()
    if wallet is not None:
        data = replace(data, wallet=wallet.moving_to)
        if wallet.moving_to.kind != Wallet.Kind.CARD:
            data = replace(data, installment_months=None)
    return data


def _assign_data(entry: Entry, data: EntryData, now: datetime) -> list[Tag]:
    """Copy the values to the row, creating new categories and tags on the way.

    Return the tags, which can be linked once the row has an id. Raises `MovingError`
    for a wallet or category that is moving.
    """
    if data.wallet is not None and data.wallet.pk != entry.wallet_id:
        raise_if_wallet_is_moving(data.wallet)
    for name in _SHARED_FIELDS:
        setattr(entry, name, getattr(data, name))
    entry.amount = data.amount or 0
    entry.category = get_or_create_category(entry.member, data.type, data.category)
    entry.updated_at = now
    return get_or_create_tags(entry.member, data.tags)


def _list_tag_links(entry: Entry) -> OwnedQuerySet:
    return EntryTag.objects.filter(member_id=entry.member_id, entry_id=entry.pk)


def _link_tags(entry: Entry, tags: list[Tag]) -> None:
    EntryTag.objects.bulk_create(
        EntryTag(entry=entry, tag=tag, member_id=entry.member_id, position=position)
        for position, tag in enumerate(tags)
    )
