"""Announcements of payments: what each channel has reported of them (spec 4.5).

A payment has a row for each channel that announced it. They share `payment_id`, the id
of the first one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import date, datetime

from django.utils import timezone

from accounts.models import Member
from card_alerts import Kind
from core.db.rows import fetch_all, prepared_cursor
from ledger.card_notifications.category_suggestion import suggest_category
from ledger.card_notifications.deduplication import (
    CHANNEL_WINDOW,
    MAX_CANCELLATION_AGE,
    MAX_CLOCK_SKEW,
    PaymentFingerprint,
    card_token,
    choose_name,
    deduplication_key,
    find_payment,
)
from ledger.card_notifications.follow_ups import MAX_PRELIMINARY_AGE
from ledger.categories import get_or_create_category
from ledger.models import Entry, Notification, Wallet
from ledger.models.base import MAX_MEMO_LENGTH, EntryType

_FINGERPRINT_FIELDS = [field.name for field in fields(PaymentFingerprint)]
_FINGERPRINT_COLUMNS = ", ".join(_FINGERPRINT_FIELDS)
_OTHER_FIELDS = (
    "entry_id",
    "payment_id",
    "wallet_id",
    "is_cancelled",
    "is_own_move",
    "awaits_counterpart",
    "original_date",
)
_READ_COLUMNS = f"id, member_id, {', '.join(_OTHER_FIELDS)}, {_FINGERPRINT_COLUMNS}"
# Of the same value; the amounts that are reserved, which a final one replaces; and the
# cancellations that wait for their approval.
_NOTIFICATIONS_OF_SAME_VALUE = f"""
    SELECT {_READ_COLUMNS} FROM account_notification
    WHERE member_id = %s AND value = %s AND currency IS NOT DISTINCT FROM %s
        AND happened_at BETWEEN %s AND %s
    UNION
    SELECT {_READ_COLUMNS} FROM account_notification
    WHERE member_id = %s AND is_preliminary AND NOT is_cancelled
        AND happened_at BETWEEN %s AND %s
    UNION
    SELECT {_READ_COLUMNS} FROM account_notification
    WHERE member_id = %s AND value = %s AND currency IS NOT DISTINCT FROM %s
        AND happened_at BETWEEN %s AND %s
        AND kind = 'cancellation' AND awaits_counterpart
    ORDER BY happened_at DESC, id DESC
"""  # noqa: S608  # names of columns
_WRITTEN_FIELDS = (*_OTHER_FIELDS, "text", "sender")
_ADD_NOTIFICATION = f"""
    INSERT INTO account_notification
        (member_id, notif_key, {", ".join(_WRITTEN_FIELDS)}, {_FINGERPRINT_COLUMNS})
    VALUES (%s, %s, {", ".join(["%s"] * len([*_WRITTEN_FIELDS, *_FINGERPRINT_FIELDS]))})
"""  # noqa: S608  # names of columns


@dataclass(frozen=True, slots=True)
class Announcement:
    """The stored part of a notification; the fields are those of `Notification`."""

    fingerprint: PaymentFingerprint
    entry_id: int | None = None
    payment_id: int | None = None
    wallet_id: int | None = None
    is_cancelled: bool = False
    is_own_move: bool = False
    awaits_counterpart: bool = False
    # The day of the approval, if a cancellation prints it.
    original_date: date | None = None
    # Of a pending entry, whose corrections teach the layout of the text.
    text: str | None = None
    sender: str | None = None
    installment_months: int | None = None


class Payments:
    """Stored notifications by their payment, the newest payment first."""

    def __init__(self, rows: Iterable[Notification]) -> None:
        self._by_payment: dict[int, list[Notification]] = {}
        for row in rows:
            rows_of_payment = self._by_payment.setdefault(row.payment_id or row.pk, [])
            rows_of_payment.append(row)
        for rows_of_payment in self._by_payment.values():
            rows_of_payment.sort(key=lambda row: int(row.pk))

    def find(self, fingerprint: PaymentFingerprint) -> list[Notification]:
        """Return the notifications of the same payment, the first one first."""
        payments = list(self._by_payment.values())
        number = find_payment(
            ([fingerprint_of(row) for row in rows] for rows in payments), fingerprint
        )
        return [] if number is None else payments[number]

    def not_cancelled(self) -> Iterator[list[Notification]]:
        """Yield the notifications of each payment that was not cancelled."""
        for rows in self._by_payment.values():
            if not any(row.is_cancelled for row in rows):
                yield rows

    def find_first(
        self, accepts: Callable[[PaymentFingerprint], bool]
    ) -> list[Notification]:
        """Return the newest such payment of which one notification is accepted."""
        for rows in self.not_cancelled():
            if any(accepts(fingerprint_of(row)) for row in rows):
                return rows
        return []

    def mark_cancelled(self, member: Member, rows: list[Notification]) -> None:
        """Record that a payment was cancelled, or replaced by its final amount."""
        stored = Notification.objects.owned_by(member)
        stored.filter(pk__in=[row.pk for row in rows]).update(is_cancelled=True)


def list_of_same_value(
    member: Member, payment: PaymentFingerprint
) -> list[Notification]:
    """Return what it may repeat, cancel or replace, newest first."""
    earlier, later = CHANNEL_WINDOW, CHANNEL_WINDOW
    if payment.kind == Kind.CANCELLATION:
        earlier, later = MAX_CANCELLATION_AGE, MAX_CLOCK_SKEW
    happened_at = payment.happened_at
    params = [
        *(member.pk, payment.value, payment.currency),
        *(happened_at - earlier, happened_at + later),
        *(member.pk, happened_at - MAX_PRELIMINARY_AGE, happened_at),
        *(member.pk, payment.value, payment.currency),
        *(happened_at - MAX_CLOCK_SKEW, happened_at + MAX_CANCELLATION_AGE),
    ]
    return fetch_all(_NOTIFICATIONS_OF_SAME_VALUE, params, Notification)


def add_notification(member: Member, announcement: Announcement) -> None:
    """Store a notification; the unique key is a second guard against duplicates."""
    fingerprint = announcement.fingerprint
    values = [getattr(announcement, name) for name in _WRITTEN_FIELDS]
    values += [getattr(fingerprint, name) for name in _FINGERPRINT_FIELDS]
    with prepared_cursor() as cursor:
        key = deduplication_key(fingerprint)
        cursor.execute(_ADD_NOTIFICATION, [member.pk, key, *values])


def merge_announcement(
    member: Member,
    known: list[Notification],
    announcement: Announcement,
    wallet: Wallet | None,
    now: datetime,
) -> tuple[str, ...]:
    """Add to a payment what another channel reports of it.

    Return the names of the fields, those of the parse answer. The pending entry gets
    the better name, unless the member has changed it, and the wallet and installments
    that it lacked; a confirmed entry is left alone. Call under `lock_ledger`.
    """
    reports = [fingerprint_of(row) for row in known]
    fingerprint = announcement.fingerprint
    is_repeated = any(report.channel == fingerprint.channel for report in reports)
    if fingerprint.channel is None or is_repeated:
        return ()
    first = known[0]
    entry = (
        Entry.objects.owned_by(member)
        .select_related("wallet")
        .filter(pk=first.entry_id, pending=True)
        .first()
    )
    merged = []
    if entry is not None:
        if fingerprint.card_company and not any(each.card_company for each in reports):
            merged.append("cardCompany")
        if _has_card_digits(fingerprint) and not any(map(_has_card_digits, reports)):
            merged.append("cardHint")
        merged += _complete_entry(entry, reports, announcement, wallet, now)
    add_notification(
        member,
        Announcement(
            fingerprint,
            entry_id=first.entry_id,
            payment_id=first.payment_id or first.pk,
            wallet_id=announcement.wallet_id,
            is_cancelled=first.is_cancelled,
        ),
    )
    return tuple(merged)


def _complete_entry(
    entry: Entry,
    reports: list[PaymentFingerprint],
    announcement: Announcement,
    wallet: Wallet | None,
    now: datetime,
) -> list[str]:
    """Give a pending entry a better name, and what it lacks; return the fields."""
    merged = []
    known_name = choose_name(reports)[:MAX_MEMO_LENGTH]
    name = choose_name([*reports, announcement.fingerprint])[:MAX_MEMO_LENGTH]
    if name != known_name and entry.memo == known_name:
        entry.memo = name
        merged.append("merchant")
        if entry.category_id is None:
            category = suggest_category(entry.member, entry.category_type, name)
            entry.category = get_or_create_category(
                entry.member, entry.category_type, category
            )
    if entry.wallet_id is None and wallet is not None:
        entry.wallet = wallet
        merged.append("walletId")
    months = announcement.installment_months
    is_by_card = entry.wallet is not None and entry.wallet.kind == Wallet.Kind.CARD
    is_expense = entry.type == EntryType.EXPENSE
    if entry.installment_months is None and months and is_by_card and is_expense:
        entry.installment_months = months
        merged.append("installmentMonths")
    if merged:
        entry.updated_at = now
        entry.save()
    return merged


def _has_card_digits(report: PaymentFingerprint) -> bool:
    """Return True if digits of the card are known, not only those of its account."""
    return not report.is_of_account and bool(card_token(report.card_hint))


def fingerprint_of(notification: Notification) -> PaymentFingerprint:
    """Return the stored fingerprint, with its time in the home time zone."""
    values = {name: getattr(notification, name) for name in _FINGERPRINT_FIELDS}
    values["happened_at"] = timezone.localtime(notification.happened_at)
    return PaymentFingerprint(**values)
