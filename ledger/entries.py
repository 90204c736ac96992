"""Create, update, confirm and delete entries, and convert foreign amounts."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Member
from core.db.locks import AdvisoryLock, make_lock_key
from core.db.rows import prepared_cursor
from core.db.transactions import retry_on_conflict
from core.errors import InvalidFieldError, ProviderUnavailableError
from ledger.amounts import resolve_amounts
from ledger.categories import get_or_create_category
from ledger.entry_data import (
    SHARED_FIELDS,
    EntryData,
    apply_changes,
    read_data,
    with_category_type,
)
from ledger.entry_rules import validate_currency, validate_installments
from ledger.errors import LinesMismatchError, RefundExceedsError
from ledger.lines import (
    book_lines,
    dump_lines,
    is_reversal,
    list_lines,
    make_lines,
    natural_category_type,
    unbook_lines,
    validate_shape,
)
from ledger.locking import lock_ledger
from ledger.merges import raise_if_merged
from ledger.models import Category, Entry, EntryLine, EntryTag, Tag, Wallet
from ledger.models.base import EntryType, OwnedQuerySet
from ledger.moves import raise_if_moving, raise_if_wallet_is_moving
from ledger.ownership import get_owned_or_404
from ledger.rates import RateCache, retry_with_rates
from ledger.refunds import (
    complete_refund,
    get_original,
    get_rest,
    raise_if_pending,
    raise_if_refunds_exceed,
    release_refunds,
    validate_original,
    validate_refund,
)
from ledger.tags import get_or_create_tags
from ledger.taught_layouts import forget_text, learn_and_forget
from ledger.wallets import raise_on_missing_wallet

_CREATE_ENTRY = """
    SELECT account_create_entry(
        %s::bigint, %s::int, %s::int, %s::date, %s::text, %s::bigint, %s::text,
        %s::bigint, %s::text, %s::text[], %s::text, %s::numeric, %s::numeric,
        %s::smallint, %s::boolean, %s::timestamptz,
        %s::bigint, %s::boolean, %s::bigint, %s::boolean, %s::time, %s::text,
        %s::jsonb
    )
"""


@retry_on_conflict
def create_entry(member: Member, data: EntryData, now: datetime) -> int:
    """Create a confirmed entry and return its id.

    Raises `InvalidFieldError` for amounts that cannot be converted and for installments
    that are not allowed, `ProviderUnavailableError` if a foreign entry has no amount
    and no rate is available, and `MovingError` for a wallet or category that moves.
    """
    data = retry_with_rates(lambda rates: resolve_amounts(data, rates=rates))
    data = with_category_type(data)
    # Installments depend on the kind of the wallet, refunds on their original.
    if data.installment_months is None and data.refund_of is None:
        validate_currency(data)
        validate_shape(data)
        entry_id = _create_with_known_names(member, data, now, is_pending=False)
        if entry_id is not None:
            return entry_id
    with transaction.atomic():
        lock_ledger(member)
        validate_installments(data)
        entry = Entry(member=member, created_at=now, line_count=0)
        tags = _write(entry, data, now)
        _link_tags(entry, tags)
    return int(entry.pk)


def _write(entry: Entry, data: EntryData, now: datetime) -> list[Tag]:
    """Save the row with its lines; return its tags.

    Call under `lock_ledger`. A stored entry whose lines change has lost the former.
    """
    original = None
    if data.refund_of is not None:
        original = get_original(entry.member, data.refund_of.pk)
        raise_if_pending(original, entry)
        if not data.lines:
            # Before the category of the expense takes the place of a missing one.
            validate_refund(data)
        data = complete_refund(data, original, entry.pk)
        validate_refund(data)
    validate_currency(data)
    validate_shape(data)
    has_new_lines = bool(data.lines) and entry.line_count in (None, 0)
    rows: list[EntryLine] = []
    if has_new_lines:
        rows = make_lines(entry.member, data.type, data.lines, EntryLine)
    tags = _assign_data(entry, data, now)
    if has_new_lines:
        entry.line_count = None
    elif not data.lines:
        entry.line_count = 0
    with (
        raise_on_missing_wallet("account_entry_wallet_owned"),
        raise_on_missing_wallet("account_entry_to_wallet_owned", "toWalletId"),
    ):
        entry.save()
    if has_new_lines:
        book_lines(entry, rows)
    if original is not None and data.currency is None:
        raise_if_refunds_exceed(original)
    return tags


def _create_with_known_names(
    member: Member, data: EntryData, now: datetime, *, is_pending: bool
) -> int | None:
    """Create an entry in one statement, the usual case, and return its id.

    Return None if a category, a wallet or a tag is unknown, or one of the former two
    is moving.
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
                data.to_wallet and data.to_wallet.pk,
                is_reversal(data.type, data.category_type),
                data.refund_of and data.refund_of.pk,
                *(data.excluded, data.time, data.source),
                dump_lines(data.lines) if data.lines else None,
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
    data = with_category_type(data)
    entry_id = _create_with_known_names(member, data, now, is_pending=True)
    if entry_id is not None:
        return entry_id
    entry = Entry(member=member, created_at=now, line_count=0, pending=True)
    _write(entry, _follow_moves(member, data), now)
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
            lines = list_lines(entry)
            _raise_if_moving(entry, lines)
            before = read_data(entry, lines)
            stored = {name: getattr(before, name) for name in SHARED_FIELDS}
            data = apply_changes(before, changes)
            data = _resolve_changes(entry, data, changes, rates, confirm=confirm)
            validate_installments(data)
            validate_original(entry, data.type, data.amount or 0)
            raise_if_merged(entry, data.type)
            was_pending, entry.pending = entry.pending, entry.pending and not confirm
            is_rescaled = (data.type, data.amount) != (before.type, before.amount)
            if data.lines != before.lines or ("lines" in changes and is_rescaled):
                unbook_lines(entry)
            elif data.lines and is_rescaled:
                raise LinesMismatchError
            tags = _write(entry, data, now)
            if was_pending:
                learn_and_forget(entry, stored, now)
            if "tags" in changes:
                _list_tag_links(entry).delete()
                _link_tags(entry, tags)

    retry_with_rates(write)


def _resolve_changes(
    entry: Entry,
    data: EntryData,
    changes: dict[str, Any],
    rates: RateCache,
    *,
    confirm: bool,
) -> EntryData:
    """Return the data with amounts that agree; see `resolve_amounts`."""
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
            gettext("`amount` or `exchangeRate` is required to confirm this entry."),
            "required",
        )
    return data


def confirm_entry(
    member: Member, entry_id: int, corrections: dict[str, Any], now: datetime
) -> None:
    """Confirm a pending entry, with corrections; do nothing if it is confirmed.

    An entry that was created without a rate needs an amount or a rate (spec 4.4).
    """
    update_entry(member, entry_id, corrections, now, confirm=True)


@retry_on_conflict
def refund_entry(
    member: Member, entry_id: int, values: dict[str, Any], now: datetime
) -> int:
    """Create a refund of an expense and return its id.

    Without an `amount` all that is left is refunded; without a wallet or memo it has
    those of the expense. Raises `RefundExceedsError` if nothing is left, and
    `InvalidFieldError` for a pending expense.
    """
    with transaction.atomic():
        lock_ledger(member)
        expense = _get_entry(member, entry_id)
        original = get_original(member, entry_id)
        rest = get_rest(original)
        if rest <= 0:
            raise RefundExceedsError
        data = EntryData(
            date=values.get("date") or timezone.localdate(now),
            type=EntryType.INCOME.value,
            amount=values.get("amount") or rest,
            wallet=values.get("wallet", expense.wallet),
            memo=values.get("memo", expense.memo),
            refund_of=original,
            excluded=expense.excluded,
        )
        entry = Entry(member=member, created_at=now, line_count=0)
        _write(entry, with_category_type(data), now)
    return int(entry.pk)


@retry_on_conflict
def delete_entry(member: Member, entry_id: int) -> None:
    """Delete one entry of the member.

    Raises `MovingError` if its wallet or category is moving.
    """
    with transaction.atomic():
        lock_ledger(member)
        entry = _get_entry(member, entry_id)
        _raise_if_moving(entry, list_lines(entry))
        delete_locked_entry(entry)


def delete_locked_entry(entry: Entry) -> None:
    """Delete an entry; call under `lock_ledger`."""
    if entry.pending:
        forget_text(entry)
    release_refunds(entry)
    # The tags first: the triggers take the amount of the entry off their totals.
    _list_tag_links(entry).delete()
    unbook_lines(entry)
    entry.delete()


def _get_entry(member: Member, entry_id: int) -> Entry:
    """Return the entry with its wallets and category; raise `NotFoundError`."""
    rows = Entry.objects.select_related("wallet", "category", "to_wallet")
    entry: Entry = get_owned_or_404(rows, member, entry_id)
    return entry


def _raise_if_moving(entry: Entry, lines: Sequence[EntryLine]) -> None:
    """Raise `MovingError` if anything that the entry names is moving."""
    raise_if_moving(entry.wallet, entry.to_wallet, entry.category)
    for line in lines:
        raise_if_moving(line.wallet, line.category)


def _follow_moves(member: Member, data: EntryData) -> EntryData:
    """Replace a wallet or category that is moving by the one that it moves to."""
    moving = {"member_id": member.pk, "moving_to__isnull": False}
    categories = Category.objects.filter(**moving).select_related("moving_to")
    named = categories.filter(type=data.category_type, name=data.category)
    category = named.first()
    if category is not None:
        data = replace(data, category=category.moving_to.name)
    wallets = Wallet.objects.filter(**moving).select_related("moving_to")
    to_wallet = wallets.filter(pk=data.to_wallet and data.to_wallet.pk).first()
    if to_wallet is not None:
        data = replace(data, to_wallet=to_wallet.moving_to)
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
    if data.to_wallet is not None and data.to_wallet.pk != entry.to_wallet_id:
        raise_if_wallet_is_moving(data.to_wallet)
    for name in SHARED_FIELDS:
        setattr(entry, name, getattr(data, name))
    entry.amount = data.amount or 0
    entry.refund_of_id = None if data.refund_of is None else data.refund_of.pk
    entry.is_reversal = is_reversal(data.type, data.category_type)
    type_ = data.category_type or natural_category_type(data.type)
    entry.category = get_or_create_category(entry.member, type_, data.category)
    entry.updated_at = now
    return get_or_create_tags(entry.member, data.tags)


def _list_tag_links(entry: Entry) -> OwnedQuerySet:
    return EntryTag.objects.filter(member_id=entry.member_id, entry_id=entry.pk)


def _link_tags(entry: Entry, tags: list[Tag]) -> None:
    EntryTag.objects.bulk_create(
        EntryTag(entry=entry, tag=tag, member_id=entry.member_id, position=position)
        for position, tag in enumerate(tags)
    )
