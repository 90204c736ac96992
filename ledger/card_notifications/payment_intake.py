"""Make entries of payments, and take them back (spec 4.1, 4.5, 4.6, 4.10).

All functions are called under `lock_ledger`.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from accounts.models import Member
from card_alerts import Kind, ParseResult, Reason
from ledger.card_notifications.announcements import (
    Announcement,
    Payments,
    add_notification,
    merge_announcement,
)
from ledger.card_notifications.category_suggestion import suggest_category
from ledger.card_notifications.deduplication import PaymentFingerprint
from ledger.card_notifications.outcomes import Action, Message, Outcome
from ledger.card_notifications.own_moves import find_booking_of_payment
from ledger.card_notifications.related_payments import (
    find_approval,
    find_final,
    find_partly_cancelled,
    link_preliminary,
    replace_preliminary,
    settle_preliminary,
    stop_waiting,
    take_waiting_cancellation,
)
from ledger.entries import create_pending_entry, delete_locked_entry
from ledger.entry_data import EntryData
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, CategoryType, EntryType
from ledger.rates import RateCache
from ledger.refunds import link_refund


@dataclass(frozen=True, slots=True)
class PaymentIntake:
    """A payment or cancellation, and what may be the same or belong to it.

    `wallet` is that of its card, and `given_wallet` the one that the client chose.
    """

    member: Member
    message: Message
    fingerprint: PaymentFingerprint
    known: Payments
    wallet: Wallet | None
    given_wallet: Wallet | None
    sender: str
    now: datetime
    rates: RateCache

    @property
    def parsed(self) -> ParseResult:
        return self.message.parsed

    @property
    def announcement(self) -> Announcement:
        months = self.parsed.installment_months
        return Announcement(self.fingerprint, installment_months=months)

    def outcome(
        self,
        action: Action,
        entry_id: int | None = None,
        *,
        replaced_entry_id: int | None = None,
    ) -> Outcome:
        return Outcome(
            action,
            self.parsed,
            self.wallet,
            entry_id,
            replaced_entry_id=replaced_entry_id,
        )


def record_payment(intake: PaymentIntake) -> Outcome:
    """Record a payment or cancellation, unless it is known already."""
    member, known = intake.member, intake.known
    same = known.find(intake.fingerprint)
    if not same:
        same = find_booking_of_payment(member, known, intake.fingerprint, intake.now)
    elif _is_waiting(same[0]):
        return _record_cancellation(intake, waiting=same)
    if same:
        announcement = settle_preliminary(member, same, intake.announcement)
        merged = merge_announcement(
            member, same, announcement, intake.wallet, intake.now
        )
        outcome = intake.outcome(Action.DUPLICATE, same[0].entry_id)
        return replace(outcome, merged=merged)
    if intake.parsed.kind != Kind.CANCELLATION:
        return _record_approval(intake)
    if intake.parsed.is_partial:
        return _record_partial_cancellation(intake)
    return _record_cancellation(intake)


def _is_waiting(row: Notification) -> bool:
    """Return True for a cancellation whose approval has not come yet."""
    return row.kind == Kind.CANCELLATION and row.awaits_counterpart


def _record_approval(intake: PaymentIntake) -> Outcome:
    """Create the entry of a payment.

    None if texts come in another order than they were written: its cancellation came
    before, or the final amount of this preliminary one.
    """
    member, known, fingerprint = intake.member, intake.known, intake.fingerprint
    superseded = replace(intake.announcement, is_cancelled=True)
    if take_waiting_cancellation(member, known, fingerprint):
        add_notification(member, superseded)
        return intake.outcome(Action.CANCELLED)
    final = find_final(member, fingerprint)
    if final is not None:
        add_notification(member, replace(superseded, entry_id=final.entry_id))
        return intake.outcome(Action.DUPLICATE, final.entry_id)
    preliminary = replace_preliminary(member, known, fingerprint)
    entry_id = _create_entry(intake, intake.wallet, None)
    if not preliminary:
        return intake.outcome(Action.CREATED, entry_id)
    link_preliminary(member, preliminary, entry_id)
    return intake.outcome(
        Action.CREATED, entry_id, replaced_entry_id=preliminary[0].entry_id
    )


def _record_cancellation(
    intake: PaymentIntake, waiting: list[Notification] | None = None
) -> Outcome:
    """Take back the entry of an approval, or wait for it.

    A pending entry is deleted, a confirmed one is refunded. `waiting` is the same
    cancellation that came before.
    """
    member, parsed = intake.member, intake.parsed
    original_date = parsed.original_date
    found = find_approval(member, intake.known, intake.fingerprint, original_date)
    if found is None:
        if waiting is None:
            announcement = replace(
                intake.announcement,
                awaits_counterpart=True,
                original_date=original_date,
            )
            add_notification(member, announcement)
        outcome = intake.outcome(Action.IGNORED)
        return replace(outcome, reason=Reason.NO_MATCHING_APPROVAL)
    approval, refunded = found
    intake.known.mark_cancelled(member, approval)
    if waiting is not None:
        stop_waiting(member, waiting)
    if refunded.pending:
        delete_locked_entry(refunded)
        if waiting is None:
            add_notification(member, intake.announcement)
        return intake.outcome(Action.CANCELLED, replaced_entry_id=refunded.pk)
    # A refund goes to the wallet that paid.
    wallet = intake.wallet
    if intake.given_wallet is None:
        wallet = refunded.wallet or wallet
    entry_id = _create_entry(intake, wallet, refunded, waiting)
    return intake.outcome(Action.REFUND_PENDING, entry_id)


def _record_partial_cancellation(intake: PaymentIntake) -> Outcome:
    """Create a refund; the approval stays."""
    original = find_partly_cancelled(
        intake.member, intake.fingerprint, intake.parsed.original_date
    )
    entry_id = _create_entry(intake, intake.wallet, original)
    return intake.outcome(Action.REFUND_PENDING, entry_id)


def _create_entry(
    intake: PaymentIntake,
    wallet: Wallet | None,
    refunded: Entry | None,
    known: list[Notification] | None = None,
) -> int:
    """Create a pending entry and its notification, unless that is known."""
    member = intake.member
    data = _build_entry_data(intake, wallet, refunded)
    entry_id = create_pending_entry(member, data, intake.now, intake.rates)
    if known is not None:
        stored = Notification.objects.owned_by(member)
        stored.filter(pk__in=[row.pk for row in known]).update(entry_id=entry_id)
        return entry_id
    add_notification(
        member,
        replace(
            intake.announcement,
            entry_id=entry_id,
            text=intake.message.text,
            sender=intake.sender,
        ),
    )
    return entry_id


def _build_entry_data(
    intake: PaymentIntake, wallet: Wallet | None, refunded: Entry | None
) -> EntryData:
    """Return an expense, or an income for a cancellation."""
    member, parsed, fingerprint = intake.member, intake.parsed, intake.fingerprint
    is_refund = parsed.kind == Kind.CANCELLATION
    type_ = EntryType.INCOME if is_refund else EntryType.EXPENSE
    memo = (parsed.merchant or "")[:MAX_MEMO_LENGTH]
    data = EntryData(
        date=parsed.occurred_on or fingerprint.happened_at.date(),
        type=type_,
        amount=parsed.amount,
        wallet=wallet,
        memo=memo,
        currency=parsed.currency,
        original_amount=parsed.original_amount,
        # A refund takes from the expense.
        category_type=CategoryType.EXPENSE.value,
        time=fingerprint.time_of_day,
        source=Entry.Source.NOTIFICATION.value,
    )
    if refunded is not None:
        # A full refund is converted like its payment.
        if refunded.currency == parsed.currency:
            data = replace(data, exchange_rate=refunded.exchange_rate)
        data = link_refund(data, refunded)
    if data.category is None and not data.lines:
        category = suggest_category(member, CategoryType.EXPENSE, memo)
        data = replace(data, category=category, category_type=CategoryType.EXPENSE)
    # Only expenses by credit card have installments (spec 3.2).
    if not is_refund and wallet is not None and wallet.kind == Wallet.Kind.CARD:
        return replace(data, installment_months=parsed.installment_months)
    return data
