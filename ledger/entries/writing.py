"""Writes of entries (spec 3.4)."""

from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext

from accounts.models import Member
from core.db.locks import AdvisoryLock, make_lock_key
from core.db.rows import prepared_cursor
from core.errors import (
    DomainError,
    InUseError,
    InvalidFieldError,
    raise_on_constraint_violation,
)
from ledger.base.ledger_write import LockedLedger, ledger_write
from ledger.base.ownership import get_owned_or_404
from ledger.categories.categories import get_or_create_categories
from ledger.currencies.rates import RateCache
from ledger.entries.amounts import CURRENCY_FIELDS, resolve_amounts
from ledger.entries.corrections import correct_followers, find_followers
from ledger.entries.facts import (
    get_entry,
    load_facts,
    raise_on_unknown_category,
    read_original,
)
from ledger.entries.merges import is_merged
from ledger.entries.refunds import (
    Facts,
    complete_entry,
    complete_refund,
    raise_if_refunds_unfit,
    unite_tags,
)
from ledger.entries.rows import (
    OF_ENTRIES,
    Categories,
    assign_shape,
    delete_lines,
    insert_lines,
    make_lines,
    read_entry,
    stamp,
)
from ledger.entries.sent_ids import (
    MISMATCH,
    Stored,
    has_ids,
    read_values,
    resolve_values,
)
from ledger.entry_shape import EXPENSE, INCOME, EntryShape
from ledger.errors import DeletedError, MissingWalletError, RefundExceedsError
from ledger.models import DeletedClientId, Entry, EntryLine
from ledger.tags.tags import get_or_create_tags
from ledger.taught_layouts.learning import (
    TAUGHT_FIELDS,
    follow_change,
    forget_text,
)
from ledger.taught_layouts.refusals import teach_refusal

_CREATE_ENTRY = """
    SELECT account_create_entry(
        owner => %(member)s,
        ledger_lock => %(lock)s,
        ledger_key => %(key)s,
        entry => jsonb_populate_record(NULL::account_entry, %(entry)s::jsonb),
        category_name => %(category)s,
        tag_names => %(tags)s,
        lines => %(lines)s::jsonb
    )
"""


class SentEntry(NamedTuple):
    """The entry of a request; `is_new` unless its `clientId` was known."""

    id: int
    is_new: bool


def insert_plain_entry(
    member: Member, shape: EntryShape, now: datetime, client_id: UUID | None = None
) -> int | None:
    """Create an entry that depends on no stored row, in one round trip.

    Returns None, and creates nothing, for foreign currencies, installments, refunds,
    ids of categories and tags, unknown names, and a known `client_id`. Raises
    `InvalidFieldError` or `LinesMismatchError`.
    """
    if has_ids(read_values(shape)):
        return None
    is_foreign = shape.currency not in (None, settings.HOME_CURRENCY)
    is_of_card = shape.installment_months is not None or shape.bill_month is not None
    if is_foreign or is_of_card or shape.refunded_ids:
        return None
    shape = resolve_amounts(shape).with_category_types()
    shape.validate()
    return insert_entry(member, shape, now, client_id=client_id)


@ledger_write(attempt=insert_plain_entry)
def create_entry(
    ledger: LockedLedger,
    shape: EntryShape,
    now: datetime,
    client_id: UUID | None = None,
) -> int:
    """Create a confirmed entry, with new categories and tags, and return its id.

    A refund whose tags or `excluded` are None takes its expense's. Raises
    `InvalidFieldError`, `LimitReachedError`, and `ProviderUnavailableError` without an
    amount or a known rate. `client_id` must not be known.
    """
    entry = Entry(
        member=ledger.member, created_at=now, pending=False, client_id=client_id
    )
    sent = read_values(shape)
    if has_ids(sent):
        shape = replace(shape, **resolve_values(ledger, sent, shape.type))
    shape = shape.with_one_refund()
    facts = load_facts(ledger, entry, shape, None)
    shape = complete_refund(shape, facts)
    shape = resolve_amounts(shape, rates=ledger.rates).with_category_types()
    shape = complete_entry(shape, facts)
    entry_id = insert_entry(ledger.member, shape, now, client_id=client_id)
    if entry_id is not None:
        return entry_id
    # A name is new, or a wallet does not exist.
    categories = get_or_create_categories(ledger, shape.category_names())
    tags = get_or_create_tags(ledger, shape.tags or ())
    has_lines = bool(shape.lines)
    _store(ledger, entry, shape, categories, now, has_new_lines=has_lines)
    OF_ENTRIES.replace_tags(entry, tags)
    return int(entry.pk)


def _insert_new_entry(
    member: Member, shape: EntryShape, now: datetime, client_id: UUID
) -> SentEntry | None:
    try:
        entry_id = insert_plain_entry(member, shape, now, client_id)
    except DomainError:
        # It counts only if the client id is not known.
        return None
    return None if entry_id is None else SentEntry(entry_id, is_new=True)


@ledger_write(attempt=_insert_new_entry)
def create_entry_once(
    ledger: LockedLedger, shape: EntryShape, now: datetime, client_id: UUID
) -> SentEntry:
    """Do as `create_entry`, once for each `client_id` (spec 3.25).

    A known one changes nothing. Raises `DeletedError` if its entry was deleted.
    """
    known = find_by_client_id(ledger, client_id)
    if known is not None:
        return SentEntry(known, is_new=False)
    entry_id = create_entry.within(ledger, shape, now, client_id)
    return SentEntry(entry_id, is_new=True)


def find_by_client_id(ledger: LockedLedger, client_id: UUID) -> int | None:
    """Return the id of the entry; raise `DeletedError` if it was deleted."""
    rows = Entry.objects.owned_by(ledger.member).filter(client_id=client_id)
    entry_id: int | None = rows.values_list("pk", flat=True).first()
    if entry_id is None:
        deleted = DeletedClientId.objects.owned_by(ledger.member)
        if deleted.filter(client_id=client_id).exists():
            raise DeletedError
    return entry_id


def insert_entry(
    member: Member,
    shape: EntryShape,
    now: datetime,
    *,
    is_pending: bool = False,
    client_id: UUID | None = None,
) -> int | None:
    """Create an entry with a valid shape in one statement, which locks the ledger too.

    Returns None, and creates nothing, for an unknown category, wallet or tag, and for a
    known `client_id`.
    """
    row = {
        "pending": is_pending,
        "created_at": now,
        "updated_at": now,
        "client_id": client_id,
    }
    params = {
        "member": member.pk,
        "lock": AdvisoryLock.LEDGER.value,
        "key": make_lock_key(member.pk),
        "entry": orjson.dumps(shape.columns() | row, default=str).decode(),
        "category": shape.category,
        "tags": list(shape.tags or ()),
        "lines": orjson.dumps(shape.lines).decode() if shape.lines else None,
    }
    with prepared_cursor() as cursor:
        cursor.execute(_CREATE_ENTRY, params)
        entry_id: int | None = cursor.fetchone()[0]
    return entry_id


@ledger_write
def update_entry(
    ledger: LockedLedger,
    entry_id: int,
    changes: dict[str, Any],
    now: datetime,
    *,
    is_partial: bool = False,
    confirm: bool = False,
    is_correction: bool = True,
) -> bool:
    """Update the fields named in `changes`; a pending entry stays pending.

    Returns True if typed-in parts of installments were of another amount or number,
    and are gone.

    `confirm` confirms a pending entry too, which then needs an amount or a rate (spec
    4.4), and leaves a confirmed one alone. What is no correction teaches nothing.
    """
    entry = get_entry(ledger, entry_id)
    if confirm and not entry.pending:
        return False
    changes = _name_sent_ids(ledger, entry, _without_client_id(entry, changes))
    before = read_entry(entry)
    taught = {name: getattr(entry, name) for name in TAUGHT_FIELDS}
    is_partial = is_partial or confirm
    shape = before.change(changes, is_partial=is_partial)
    if is_partial and shape.type != before.type and "category" not in changes:
        raise_on_unknown_category(ledger, shape)
    # A rate belongs to its currency.
    if shape.currency != before.currency and "exchange_rate" not in changes:
        shape = replace(shape, exchange_rate=None)
    was_pending, entry.pending = entry.pending, entry.pending and not confirm
    facts = load_facts(ledger, entry, shape, before)
    shape, facts = _drop_unfit_month(shape, changes, facts, is_partial=is_partial)
    shape, tag_names = _complete_changes(entry, shape, changes, facts)
    shape = _resolve_changes(before, shape, changes, ledger.rates, confirm=confirm)
    shape = complete_entry(shape, facts).with_fitting_parts()
    if entry.type == EXPENSE and _concerns_refunds(before, shape):
        raise_if_refunds_unfit(read_original(ledger, entry), shape)
    if shape.type != entry.type and is_merged(entry):
        raise InUseError(gettext("The transfer was merged. Take it apart first."))
    has_new_lines = shape.rewrites_lines(before, are_given="lines" in changes)
    if has_new_lines:
        delete_lines(entry)
    categories = get_or_create_categories(ledger, shape.category_names())
    tags = None if tag_names is None else get_or_create_tags(ledger, tag_names)
    followers = find_followers(ledger, entry, before, shape, has_tags=tags is not None)
    _store(ledger, entry, shape, categories, now, has_new_lines=has_new_lines)
    if was_pending:
        chosen = changes if is_partial else ()
        follow_change(
            ledger, entry, taught, now, is_correction=is_correction, chosen=chosen
        )
    if tags is not None:
        OF_ENTRIES.replace_tags(entry, tags)
    if followers is not None:
        correct_followers(ledger, entry, followers, shape, tags, now)
    return before.installment_parts is not None and shape.installment_parts is None


def _drop_unfit_month(
    shape: EntryShape, changes: dict[str, Any], facts: Facts, *, is_partial: bool
) -> tuple[EntryShape, Facts]:
    """Keep a month of the bill that a PUT leaves out only where it fits."""
    if facts.has_bill or is_partial or "bill_month" in changes:
        return shape, facts
    return replace(shape, bill_month=None), replace(facts, has_bill=True)


def _without_client_id(entry: Entry, changes: dict[str, Any]) -> dict[str, Any]:
    """Raise `InvalidFieldError` for another one than the entry's."""
    changes = dict(changes)
    sent = changes.pop("client_id", None)
    if sent not in (None, entry.client_id):
        raise InvalidFieldError("clientId", gettext("It never changes."), MISMATCH)
    return changes


def _name_sent_ids(
    ledger: LockedLedger, entry: Entry, changes: dict[str, Any]
) -> dict[str, Any]:
    if not has_ids(changes):
        return changes
    return resolve_values(
        ledger,
        changes,
        changes.get("type", entry.type),
        row=entry,
        lines=OF_ENTRIES.list_lines(entry) if entry.line_count else (),
        tags=[Stored(*tag) for tag in OF_ENTRIES.list_tags(entry)],
    )


def _complete_changes(
    entry: Entry, shape: EntryShape, changes: dict[str, Any], facts: Facts
) -> tuple[EntryShape, tuple[str, ...] | None]:
    """Return the shape and its tags, None if they stay.

    A new refund takes missing values from its expense, and has the tags of both.
    """
    if shape.refund_of is None or facts.is_linked(shape.refund_of):
        tags = tuple(changes["tags"] or ()) if "tags" in changes else None
        return complete_refund(shape, facts), tags
    shape = replace(shape, tags=changes.get("tags"), excluded=changes.get("excluded"))
    if CURRENCY_FIELDS & changes.keys() and "amount" not in changes:
        # The stored amount gives way to the rate of the expense.
        shape = replace(shape, amount=None)
    shape = complete_refund(shape, facts)
    own_tags = () if "tags" in changes else OF_ENTRIES.list_tag_names(entry)
    return shape, unite_tags(own_tags, shape.tags or ())


def _concerns_refunds(before: EntryShape, shape: EntryShape) -> bool:
    names = ("type", "date", "amount", "currency", "original_amount")
    return any(getattr(before, name) != getattr(shape, name) for name in names)


def _resolve_changes(
    before: EntryShape,
    shape: EntryShape,
    changes: dict[str, Any],
    rates: RateCache,
    *,
    confirm: bool,
) -> EntryShape:
    # Clients send an entry back as they read it; 0 is no amount to store.
    if before.amount == 0 and shape.amount == 0:
        shape = replace(shape, amount=None)
    has_no_rate = shape.exchange_rate is None and shape.original_amount is not None
    is_rate_missing = (
        before.amount == 0
        and shape.amount is None
        and shape.currency is not None
        and has_no_rate
    )
    if not is_rate_missing:
        shape = resolve_amounts(shape, changes, rates=rates)
    elif confirm:
        raise InvalidFieldError(
            "amount",
            gettext("`amount` or `exchangeRate` is required to confirm this entry."),
            "required",
        )
    return shape


@ledger_write
def refund_entry(
    ledger: LockedLedger, entry_id: int, values: dict[str, Any], now: datetime
) -> int:
    """Create a refund of an expense and return its id.

    By default it has the rest of the amount, the wallet and the memo, and today's date
    or a later one of the expense. Raises `RefundExceedsError` if nothing is left, and
    `InvalidFieldError` for a pending expense.
    """
    entry = get_entry(ledger, entry_id)
    if entry.type != EXPENSE:
        raise InvalidFieldError(
            "refundOf", gettext("Must be an expense."), "does_not_exist"
        )
    rest = read_original(ledger, entry).rest
    if rest is None:
        raise RefundExceedsError
    if values.get("amount"):
        rest = EntryShape(type=INCOME, amount=values["amount"])
    shape = replace(
        rest,
        date=values.get("date") or max(timezone.localdate(now), entry.date),
        wallet=values.get("wallet", entry.wallet_id),
        memo=values.get("memo", entry.memo),
        refund_of=entry_id,
        tags=None,
        excluded=None,
    )
    return create_entry.within(ledger, shape, now)


@ledger_write
def delete_entry(
    ledger: LockedLedger, entry_id: int, *, refused_at: datetime | None = None
) -> None:
    """Delete an entry; its refunds stay. Raises `NotFoundError`.

    With `refused_at` a pending entry was no payment, and texts like its own are refused
    from then on (spec 4.11).
    """
    entry: Entry = get_owned_or_404(Entry.objects.all(), ledger.member, entry_id)
    if entry.pending:
        if refused_at is not None:
            teach_refusal(ledger, entry, refused_at)
        forget_text(ledger, entry.pk)
    if entry.type == EXPENSE:
        refunds = Entry.objects.owned_by(ledger.member).filter(refund_of=entry.pk)
        refunds.update(refund_of=None)
        lines = EntryLine.objects.owned_by(ledger.member).filter(refund_of=entry.pk)
        owners = list(lines.order_by().values_list("entry_id", flat=True).distinct())
        lines.update(refund_of=None)
        stamp(ledger, owners)
    # The tags first: the triggers take the amount of the entry off their totals.
    OF_ENTRIES.delete_tags(entry)
    delete_lines(entry)
    entry.delete()


def _store(
    ledger: LockedLedger,
    entry: Entry,
    shape: EntryShape,
    categories: Categories,
    now: datetime,
    *,
    has_new_lines: bool,
) -> None:
    lines: list[EntryLine] = []
    if has_new_lines and shape.lines:
        lines = make_lines(ledger, shape, categories, EntryLine)
    assign_shape(entry, shape, categories)
    entry.amount = shape.amount or 0
    entry.updated_at = now
    if lines:
        # The entry counts once its lines are written.
        entry.line_count = None
    elif not shape.lines:
        entry.line_count = 0
    with (
        raise_on_constraint_violation(
            "account_entry_wallet_owned", MissingWalletError()
        ),
        raise_on_constraint_violation(
            "account_entry_to_wallet_owned", MissingWalletError("toWalletId")
        ),
    ):
        entry.save()
    if lines:
        insert_lines(entry, lines)
