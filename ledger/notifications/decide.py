"""Decide the effect of a message (spec 4.5, 4.6, 4.10, 4.12). Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from card_alerts import Kind, Reason
from ledger.models import Wallet
from ledger.models.base import MAX_MEMO_LENGTH, EntryType
from ledger.notifications.compare import is_booking_of_payment
from ledger.notifications.known import Known, KnownEntry, KnownRow, Payment
from ledger.notifications.message import BookingKind, Fingerprint, Message
from ledger.notifications.payment_wallet import choose_wallet, find_account
from ledger.notifications.plan import (
    NEW,
    Action,
    CompleteEntry,
    CreateEntry,
    DeleteEntry,
    MergeEntries,
    Plan,
    Step,
    StoreRow,
    UnmergeEntry,
    UpdateRows,
)
from ledger.notifications.wallets import KnownWallet, OwnMove
from ledger.taught_layouts.doubts import (
    combine_doubts,
    describe_doubts,
    has_chosen_name,
)

_OWN_MOVE = {"is_own_move": True, "awaits_counterpart": False}


def decide_payment(known: Known, message: Message, card: KnownWallet | None) -> Plan:
    payment = message.fingerprint
    if same := known.find(payment):
        if same.is_waiting_cancellation:
            return _cancel_payment(known, message, card, same)
        return _add_report(same, message, card)
    if withdrawal := known.find_withdrawal(payment):
        booking = withdrawal.first
        steps: list[Step] = [UpdateRows(withdrawal.ids, {"awaits_counterpart": False})]
        if booking.is_own_move and booking.entry is not None:
            steps.append(UnmergeEntry(booking.entry.id))
        return _add_report(withdrawal, message, card, steps)
    if payment.kind == Kind.CANCELLATION and not payment.is_partial:
        return _cancel_payment(known, message, card)
    if payment.kind == Kind.CANCELLATION:
        # The approval stays.
        original = known.find_partly_cancelled(payment, message.parsed.original_date)
        return Plan(
            Action.REFUND_PENDING,
            [_make_refund(message, card, original), _store_new(message)],
            entry_id=NEW,
        )
    if cancellation := known.find_waiting_cancellation(payment):
        return Plan(
            Action.CANCELLED,
            [
                UpdateRows(cancellation.ids, {"awaits_counterpart": False}),
                StoreRow(payment, is_cancelled=True),
            ],
        )
    if final := known.find_final(payment):
        return Plan(
            Action.DUPLICATE,
            [StoreRow(payment, entry_id=final.entry_id, is_cancelled=True)],
            entry_id=final.entry_id,
        )
    return _approve(known, message, card)


def _approve(known: Known, message: Message, card: KnownWallet | None) -> Plan:
    shape = message.make_entry(EntryType.EXPENSE, card.id if card else None)
    # Only expenses by credit card have installments (spec 3.2).
    if card is not None and card.kind == Wallet.Kind.CARD:
        shape = replace(shape, installment_months=message.parsed.installment_months)
    steps: list[Step] = [CreateEntry(shape), _store_new(message)]
    preliminary = known.find_preliminary(message.fingerprint)
    if preliminary is None or preliminary.first.entry is None:
        return Plan(Action.CREATED, steps, entry_id=NEW)
    replaced_id = preliminary.first.entry.id
    return Plan(
        Action.CREATED,
        [
            UpdateRows(preliminary.ids, {"is_cancelled": True}),
            DeleteEntry(replaced_id),
            *steps,
            # A final amount with a preliminary one replaces no other.
            UpdateRows(preliminary.ids, {"entry_id": NEW}),
        ],
        entry_id=NEW,
        replaced_entry_id=replaced_id,
    )


def _cancel_payment(
    known: Known,
    message: Message,
    card: KnownWallet | None,
    waiting: Payment | None = None,
) -> Plan:
    """Delete the pending entry, refund a confirmed one, or wait for the approval.

    `waiting` is an earlier report of the same cancellation.
    """
    cancellation = message.fingerprint
    original_date = message.parsed.original_date
    found = known.find_approval(cancellation, original_date)
    if found is None and message.is_asserted:
        refund = _make_refund(message, card, None)
        taken = {"entry_id": NEW, "awaits_counterpart": False}
        row = UpdateRows(waiting.ids, taken) if waiting else _store_new(message)
        return Plan(Action.CREATED, [refund, row], entry_id=NEW)
    if found is None:
        row = StoreRow(
            cancellation, awaits_counterpart=True, original_date=original_date
        )
        steps: list[Step] = [] if waiting else [row]
        return Plan(Action.IGNORED, steps, reason=Reason.NO_MATCHING_APPROVAL)
    approval, entry = found
    steps = [UpdateRows(approval.ids, {"is_cancelled": True})]
    if waiting is not None:
        steps.append(UpdateRows(waiting.ids, {"awaits_counterpart": False}))
    if entry.pending:
        steps.append(DeleteEntry(entry.id))
        if waiting is None:
            steps.append(StoreRow(cancellation))
        return Plan(Action.CANCELLED, steps, replaced_entry_id=entry.id)
    if message.given_wallet is None and entry.wallet_id is not None:
        # A refund goes to the wallet that paid.
        card = KnownWallet(entry.wallet_id)
    steps.append(_make_refund(message, card, entry))
    if waiting is not None:
        steps.append(UpdateRows(waiting.ids, {"entry_id": NEW}))
    else:
        steps.append(_store_new(message))
    return Plan(Action.REFUND_PENDING, steps, entry_id=NEW)


def _make_refund(
    message: Message, wallet: KnownWallet | None, original: KnownEntry | None
) -> CreateEntry:
    shape = message.make_entry(EntryType.INCOME, wallet.id if wallet else None)
    if original is None:
        return CreateEntry(shape)
    # A full refund is converted like its payment.
    if original.currency == shape.currency:
        shape = replace(shape, exchange_rate=original.exchange_rate)
    return CreateEntry(shape, refund_of=original.id)


def _store_new(message: Message) -> StoreRow:
    return StoreRow(
        message.fingerprint,
        entry_id=NEW,
        text=message.text,
        sender=message.sender,
        doubts=describe_doubts(message.parsed),
        layout_digest=message.layout_digest,
    )


def _add_report(
    payment: Payment,
    message: Message,
    wallet: KnownWallet | None,
    steps: Sequence[Step] = (),
) -> Plan:
    """Store the report of another channel, and complete the pending entry.

    A confirmed entry stays as it is, and so does a changed name.
    """
    first, reports, report = payment.first, payment.reports, message.fingerprint
    preliminary = payment.preliminary_ids
    is_preliminary = preliminary == payment.ids
    if message.booking is None and report.is_preliminary != is_preliminary:
        # One report is final: no other final amount may replace it.
        report = replace(report, is_preliminary=False)
        if preliminary:
            steps = [*steps, UpdateRows(preliminary, {"is_preliminary": False})]
    duplicate = Plan(Action.DUPLICATE, steps, entry_id=first.entry_id)
    if report.channel in (None, *(each.channel for each in reports)):
        return duplicate
    stored = _store_report(first, message, report, wallet)
    entry = first.entry
    if entry is not None and any(isinstance(each, UnmergeEntry) for each in steps):
        entry = entry.unmerge()
    if entry is None or not entry.pending:
        return replace(duplicate, steps=[*steps, stored])
    merged = payment.list_new_fields(report)
    changes: dict[str, Any] = {}
    category_type = None
    known_name = payment.name_with()[:MAX_MEMO_LENGTH]
    name = payment.name_with(report)[:MAX_MEMO_LENGTH]
    is_open = entry.memo == known_name and not has_chosen_name(first.doubts)
    if name != known_name and is_open:
        merged.append("merchant")
        changes["memo"] = name
        if not entry.has_category:
            category_type = entry.category_type
    kind = entry.wallet_kind
    better = _find_better_wallet(payment, message, entry, wallet)
    if better is not None:
        merged.append("walletId")
        changes["wallet_id"], kind = better.id, better.kind
    months = None if message.booking else message.parsed.installment_months
    is_by_card = kind == Wallet.Kind.CARD and entry.type == EntryType.EXPENSE
    if entry.installment_months is None and months and is_by_card:
        merged.append("installmentMonths")
        changes["installment_months"] = months
    settled = _settle_doubts(first, message, name, is_new_name="memo" in changes)
    is_changed = changes or settled
    completed = [CompleteEntry(entry.id, changes, category_type)] if is_changed else []
    steps = [*steps, *settled, *completed, stored]
    return replace(duplicate, steps=steps, merged=tuple(merged))


def _store_report(
    first: KnownRow, message: Message, report: Fingerprint, wallet: KnownWallet | None
) -> StoreRow:
    stored = StoreRow(
        report,
        entry_id=first.entry_id,
        payment_id=first.payment_id or first.id,
        wallet_id=wallet.id if wallet and message.booking else None,
        is_cancelled=first.is_cancelled,
        layout_digest=message.layout_digest,
    )
    if first.entry is not None and not first.entry.pending:
        return replace(stored, is_confirmed=True)
    if first.kind in tuple(BookingKind) and message.booking is None and first.entry:
        # The text of a bank account is not kept: corrections are of this one.
        return replace(stored, text=message.text, sender=message.sender)
    return stored


def _settle_doubts(
    first: KnownRow, message: Message, name: str, *, is_new_name: bool
) -> list[Step]:
    doubts = combine_doubts(first.doubts, message.parsed, name, is_new_name=is_new_name)
    if doubts == first.doubts:
        return []
    return [UpdateRows([first.id], {"doubts": doubts})]


def _find_better_wallet(
    payment: Payment, message: Message, entry: KnownEntry, own: KnownWallet | None
) -> KnownWallet | None:
    """Return the wallet of all announcements, unless the entry has it already.

    `own` is the wallet of the new announcement alone. Another wallet than the earlier
    ones told is the member's choice.
    """
    account = find_account(payment.rows)
    new_account = own if message.booking else None
    reports = [*payment.reports, message.fingerprint]
    together = choose_wallet(reports, account or new_account, message.cards)
    if entry.wallet_id is None:
        return together if together is not None and own is not None else own
    is_movable = entry.type != EntryType.TRANSFER and entry.line_count == 0
    before = choose_wallet(payment.reports, account, message.cards)
    if before is None or before.id != entry.wallet_id or not is_movable:
        return None
    return together if together and together.id != entry.wallet_id else None


def decide_booking(
    known: Known, message: Message, account: KnownWallet, own_move: OwnMove | None
) -> Plan:
    booking = message.fingerprint
    of_account = known.on_account(account.id)
    ignored = Plan(
        Action.IGNORED, reason=own_move.reason if own_move else Reason.OWN_TRANSFER
    )
    if repeated := of_account.find(booking):
        if repeated.first.is_own_move and repeated.first.entry_id is None:
            return ignored
        return Plan(Action.DUPLICATE, entry_id=repeated.first.entry_id)
    if booking.kind == Kind.CANCELLATION:
        other_id = own_move.other if own_move else None
        return _cancel_booking(known, of_account, message, account, other_id)
    paid = known.find_first(lambda report: is_booking_of_payment(booking, report))
    if paid is not None and own_move is None:
        return _add_report(paid, message, account)
    is_bill = own_move is not None and own_move.is_card_bill
    can_have_mirror = message.is_transfer and not is_bill
    if can_have_mirror:
        candidates = own_move.candidates if own_move else None
        mirror = known.find_mirror(booking, account.id, candidates)
        if mirror is not None:
            return _join_move(mirror, message, account, ignored)
    row = StoreRow(booking, wallet_id=account.id)
    if own_move is None:
        row = replace(row, entry_id=NEW, awaits_counterpart=can_have_mirror)
        entry = message.make_entry(message.booked_type, account.id)
        return Plan(Action.CREATED, [CreateEntry(entry), row], entry_id=NEW)
    row = replace(row, is_own_move=True, awaits_counterpart=can_have_mirror)
    if own_move.other is None or booking.currency is not None:
        # The mirror creates the transfer; transfers are in the home currency.
        return replace(ignored, steps=[row])
    transfer = message.make_transfer(account.id, own_move.other)
    return Plan(
        Action.CREATED,
        [CreateEntry(transfer), replace(row, entry_id=NEW)],
        entry_id=NEW,
    )


def _join_move(
    mirror: KnownRow, message: Message, account: KnownWallet, ignored: Plan
) -> Plan:
    """Make one transfer of both bookings of a move.

    If the member has confirmed, changed or deleted the entry, ignore this booking.
    """
    entry = mirror.entry
    row = StoreRow(message.fingerprint, wallet_id=account.id, is_own_move=True)
    joined = UpdateRows([mirror.id], _OWN_MOVE)
    if entry is not None and entry.type == EntryType.TRANSFER:
        return Plan(
            Action.DUPLICATE,
            [joined, replace(row, entry_id=entry.id)],
            entry_id=entry.id,
        )
    if entry is not None and mirror.can_become_transfer:
        is_expense = entry.type == EntryType.EXPENSE
        return Plan(
            Action.DUPLICATE,
            [
                CreateEntry(message.make_entry(message.booked_type, account.id)),
                # The merge refers the bookings of the income to the transfer.
                replace(row, entry_id=NEW),
                joined,
                MergeEntries(entry.id),
            ],
            # The expense becomes the transfer.
            entry_id=entry.id if is_expense else NEW,
            merged=("walletId",),
            replaced_entry_id=None if is_expense else entry.id,
        )
    is_foreign = message.fingerprint.currency is not None
    if mirror.entry_id is None and not is_foreign:
        transfer = message.make_transfer(account.id, mirror.wallet_id)
        return Plan(
            Action.CREATED,
            [
                CreateEntry(transfer),
                replace(joined, values=_OWN_MOVE | {"entry_id": NEW}),
                replace(row, entry_id=NEW),
            ],
            entry_id=NEW,
        )
    # Transfers are in the home currency: neither booking has an entry.
    is_left = entry is not None and entry.pending and entry.currency is not None
    deleted = [DeleteEntry(entry.id)] if entry is not None and is_left else []
    return replace(ignored, steps=[*deleted, joined, row])


def _cancel_booking(
    known: Known,
    of_account: Known,
    message: Message,
    account: KnownWallet,
    other_id: int | None,
) -> Plan:
    """Delete the pending entry of a booking, or reverse a confirmed one.

    `other_id` is the wallet that the text names: of a transfer with lines, what came
    back does so from there.
    """
    type_ = message.booked_type
    kind = BookingKind.DEPOSIT if type_ is EntryType.INCOME else BookingKind.WITHDRAWAL
    found = of_account.find_first(lambda report: report.kind == kind)
    if found is None:
        # The text of the other account has cancelled the move.
        is_taken_back = any(
            row.kind == kind
            and row.wallet_id == account.id
            and row.is_own_move
            and row.is_cancelled
            for row in known.rows
        )
        reason = Reason.OWN_TRANSFER if is_taken_back else Reason.NO_MATCHING_APPROVAL
        return Plan(Action.IGNORED, reason=reason)
    first, entry = found.first, found.first.entry
    row = StoreRow(message.fingerprint, wallet_id=account.id)
    steps: list[Step] = [UpdateRows(found.ids, {"is_cancelled": True})]
    if first.is_own_move and first.entry_id is None:
        steps.append(replace(row, is_own_move=True))
        return Plan(Action.IGNORED, steps, reason=Reason.OWN_TRANSFER)
    if first.is_own_move and first.entry_id is not None:
        steps.append(UpdateRows((), {"is_cancelled": True}, move_of=first.entry_id))
    if entry is None or entry.pending:
        steps += [DeleteEntry(entry.id)] if entry is not None else []
        return Plan(Action.CANCELLED, [*steps, row], replaced_entry_id=first.entry_id)
    is_split = entry.type == EntryType.TRANSFER and entry.to_wallet_id is None
    source = other_id if is_split else entry.to_wallet_id
    if source is not None:
        shape = message.make_entry(EntryType.TRANSFER, source)
        shape = replace(shape, to_wallet=entry.wallet_id)
        if shape.currency is not None:
            # The member has made a transfer of it, in the home currency.
            shape = replace(
                shape, amount=entry.amount, currency=None, original_amount=None
            )
    else:
        opposite = EntryType.EXPENSE if type_ is EntryType.INCOME else EntryType.INCOME
        shape = message.make_entry(opposite, entry.wallet_id)
    if entry.currency == shape.currency:
        shape = replace(shape, exchange_rate=entry.exchange_rate)
    steps += [CreateEntry(shape), replace(row, entry_id=NEW)]
    return Plan(Action.REFUND_PENDING, steps, entry_id=NEW)
