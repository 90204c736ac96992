"""Stored notifications that may belong to a message, read in one query."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.utils import timezone

from accounts.models import Member
from card_alerts import Kind
from core.db.rows import prepared_cursor
from ledger.models import Wallet
from ledger.models.base import EntryType
from ledger.notifications.compare import (
    CHANNEL_WINDOW,
    MAX_CANCELLATION_AGE,
    MAX_CLOCK_SKEW,
    MAX_PRELIMINARY_AGE,
    choose_name,
    find_payment,
    is_booking_of_payment,
    is_cancelled_by,
    is_preliminary_of,
    minute_of,
)
from ledger.notifications.message import BookingKind, Fingerprint

_OPPOSITE: dict[str, str] = {
    BookingKind.DEPOSIT: BookingKind.WITHDRAWAL,
    BookingKind.WITHDRAWAL: BookingKind.DEPOSIT,
}
_BOOKED_TYPES: dict[str, EntryType] = {
    BookingKind.DEPOSIT: EntryType.INCOME,
    BookingKind.WITHDRAWAL: EntryType.EXPENSE,
}


@dataclass(frozen=True, slots=True)
class FormerExpense:
    """Fields that the expense of a merged transfer gets back."""

    memo: str = ""
    category_type: str = EntryType.EXPENSE.value
    has_category: bool = False
    installment_months: int | None = None


@dataclass(frozen=True, slots=True)
class KnownEntry:
    """The entry of a stored notification; `former` for a merged transfer."""

    id: int
    type: str = EntryType.EXPENSE.value
    amount: int = 0
    pending: bool = True
    currency: str | None = None
    exchange_rate: Decimal | None = None
    wallet_id: int | None = None
    wallet_kind: str | None = None
    to_wallet_id: int | None = None
    memo: str = ""
    category_type: str = EntryType.EXPENSE.value
    has_category: bool = False
    line_count: int | None = 0
    refund_of_id: int | None = None
    is_reversal: bool = False
    has_refunds: bool = False
    installment_months: int | None = None
    former: FormerExpense | None = None

    @property
    def is_pending_merge(self) -> bool:
        return (
            self.former is not None
            and self.pending
            and self.type == EntryType.TRANSFER
            and self.to_wallet_id is not None
        )

    def unmerge(self) -> "KnownEntry":
        if self.former is None:
            return self
        has_months = self.wallet_kind == Wallet.Kind.CARD
        return replace(
            self,
            type=EntryType.EXPENSE.value,
            to_wallet_id=None,
            memo=self.former.memo,
            category_type=self.former.category_type,
            has_category=self.former.has_category,
            installment_months=self.former.installment_months if has_months else None,
            former=None,
        )


@dataclass(frozen=True, slots=True)
class KnownRow:
    """A stored notification, and its entry if that still exists.

    `wallet_id` is the account of a booking, unless it was deleted.
    """

    id: int
    fingerprint: Fingerprint
    entry_id: int | None = None
    payment_id: int | None = None
    wallet_id: int | None = None
    is_cancelled: bool = False
    is_own_move: bool = False
    awaits_counterpart: bool = False
    original_date: date | None = None
    doubts: Mapping[str, Any] | None = None
    entry: KnownEntry | None = None

    @property
    def kind(self) -> str:
        return self.fingerprint.kind

    @property
    def can_become_transfer(self) -> bool:
        """Return True if the member has not changed the entry of a booking."""
        entry = self.entry
        return (
            entry is not None
            and entry.pending
            and entry.type == _BOOKED_TYPES[self.kind]
            and entry.wallet_id == self.wallet_id
            and entry.amount == self.fingerprint.value
            and entry.line_count == 0
            and entry.currency is None
            and entry.refund_of_id is None
            and not entry.is_reversal
            and not entry.has_refunds
        )


@dataclass(frozen=True, slots=True)
class Payment:
    """Notifications of one payment, oldest first: one of each channel."""

    rows: tuple[KnownRow, ...]

    @property
    def first(self) -> KnownRow:
        return self.rows[0]

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(row.id for row in self.rows)

    @property
    def reports(self) -> list[Fingerprint]:
        return [row.fingerprint for row in self.rows]

    @property
    def is_waiting_cancellation(self) -> bool:
        return self.first.kind == Kind.CANCELLATION and self.first.awaits_counterpart

    @property
    def preliminary_ids(self) -> tuple[int, ...]:
        return tuple(row.id for row in self.rows if row.fingerprint.is_preliminary)

    def list_new_fields(self, report: Fingerprint) -> list[str]:
        """Return fields of the parse answer that no report has had yet."""
        found = []
        if report.card_company and not any(each.card_company for each in self.reports):
            found.append("cardCompany")
        has_digits = any(each.has_card_digits for each in self.reports)
        if report.has_card_digits and not has_digits:
            found.append("cardHint")
        return found

    def name_with(self, *reports: Fingerprint) -> str:
        return choose_name([*self.reports, *reports])


@dataclass(frozen=True)
class Known:
    """Stored notifications, newest first.

    `others` are approvals of other values, for a partial cancellation or a preliminary
    amount.
    """

    rows: tuple[KnownRow, ...] = ()
    others: tuple[KnownRow, ...] = ()

    @cached_property
    def payments(self) -> list[Payment]:
        by_payment: dict[int, list[KnownRow]] = {}
        for row in self.rows:
            by_payment.setdefault(row.payment_id or row.id, []).append(row)
        return [
            Payment(tuple(sorted(rows, key=lambda row: row.id)))
            for rows in by_payment.values()
        ]

    def list_not_cancelled(self) -> Iterator[Payment]:
        for payment in self.payments:
            if not any(row.is_cancelled for row in payment.rows):
                yield payment

    def on_account(self, wallet_id: int) -> "Known":
        return Known(tuple(row for row in self.rows if row.wallet_id == wallet_id))

    def find(self, fingerprint: Fingerprint) -> Payment | None:
        number = find_payment((each.reports for each in self.payments), fingerprint)
        return None if number is None else self.payments[number]

    def find_first(self, accepts: Callable[[Fingerprint], bool]) -> Payment | None:
        for payment in self.list_not_cancelled():
            if any(map(accepts, payment.reports)):
                return payment
        return None

    def find_withdrawal(self, approval: Fingerprint) -> Payment | None:
        """Return the withdrawal by which the bank reported an approval.

        A move stays a move, unless a deposit has made a pending transfer of it.
        """
        for payment in self.list_not_cancelled():
            row = payment.first
            is_undoable = row.entry is not None and row.entry.is_pending_merge
            if any(
                is_booking_of_payment(report, approval) for report in payment.reports
            ) and (is_undoable or not row.is_own_move):
                return payment
        return None

    def find_approval(
        self, cancellation: Fingerprint, original_date: date | None
    ) -> tuple[Payment, KnownEntry] | None:
        for payment in self.list_not_cancelled():
            for row in payment.rows:
                if (
                    row.kind == Kind.APPROVAL
                    and row.entry is not None
                    and is_cancelled_by(row.fingerprint, cancellation, original_date)
                ):
                    return payment, row.entry
        return None

    def find_partly_cancelled(
        self, cancellation: Fingerprint, original_date: date | None
    ) -> KnownEntry | None:
        for row in self.others:
            # A cancellation of the whole would have the same value.
            approval = replace(row.fingerprint, value=cancellation.value)
            if row.entry is not None and is_cancelled_by(
                approval, cancellation, original_date
            ):
                return row.entry
        return None

    def find_waiting_cancellation(self, approval: Fingerprint) -> Payment | None:
        """Return the cancellation that came before its approval.

        After a cancellation, a payment is another payment.
        """
        for payment in self.list_not_cancelled():
            row = payment.first
            if (
                payment.is_waiting_cancellation
                and minute_of(approval) <= minute_of(row.fingerprint)
                and is_cancelled_by(approval, row.fingerprint, row.original_date)
            ):
                return payment
        return None

    def find_preliminary(self, final: Fingerprint) -> Payment | None:
        for payment in self.list_not_cancelled():
            entry = payment.first.entry
            if (
                entry is not None
                and entry.pending
                and any(is_preliminary_of(each, final) for each in payment.reports)
            ):
                return payment
        return None

    def find_final(self, preliminary: Fingerprint) -> KnownRow | None:
        """Return the earliest final approval without another preliminary one."""
        taken = {row.entry_id for row in self.others if row.fingerprint.is_preliminary}
        for row in reversed(self.others):
            if (
                not row.is_cancelled
                and row.entry_id not in taken
                and is_preliminary_of(preliminary, row.fingerprint)
            ):
                return row
        return None

    def find_mirror(
        self, booking: Fingerprint, account_id: int, candidates: Sequence[int] | None
    ) -> KnownRow | None:
        """Return the nearest opposite booking on another account without counterpart.

        `candidates` are the other accounts that the text may name.
        """

        def distance(row: KnownRow) -> Any:
            return abs(row.fingerprint.happened_at - booking.happened_at)

        rows = [
            row
            for row in self.rows
            if row.kind == _OPPOSITE[booking.kind]
            and row.awaits_counterpart
            and not row.is_cancelled
            and row.wallet_id not in (account_id, None)
            and (candidates is None or row.wallet_id in candidates)
            and distance(row) <= CHANNEL_WINDOW
        ]
        for row in sorted(rows, key=distance):
            entry = row.entry
            if (
                entry is None
                or entry.type != EntryType.TRANSFER
                or {entry.wallet_id, entry.to_wallet_id} == {row.wallet_id, account_id}
            ):
                return row
        return None


_FINGERPRINT = [field.name for field in fields(Fingerprint)]
_ROW = [
    field.name
    for field in fields(KnownRow)
    if field.name not in ("fingerprint", "wallet_id", "entry")
]
_ENTRY = {
    field.name: f"e.{field.name}"
    for field in fields(KnownEntry)
    if field.name != "former"
} | {
    "wallet_kind": "w.kind",
    "has_category": "e.category_id IS NOT NULL",
    "has_refunds": (
        "EXISTS (SELECT FROM account_entry r"
        " WHERE r.member_id = %(member)s AND r.refund_of_id = e.id)"
        " OR EXISTS (SELECT FROM account_entry_line l"
        " WHERE l.member_id = %(member)s AND l.refund_of_id = e.id)"
    ),
}
_FORMER = {field.name: f"m.{field.name}" for field in fields(FormerExpense)} | {
    "has_category": "m.category_id IS NOT NULL"
}
_STORED = ", ".join(["member_id", "wallet_id", *_ROW, *_FINGERPRINT])
_SELECTED = ", ".join(
    [
        "n.is_other",
        "a.id AS wallet_id",
        *(f"n.{name}" for name in [*_ROW, *_FINGERPRINT]),
        *(f"{sql} AS e_{name}" for name, sql in _ENTRY.items()),
        *(f"{sql} AS m_{name}" for name, sql in _FORMER.items()),
    ]
)
_PARTLY_CANCELLED = f"""
    UNION ALL
    SELECT {_STORED}, true FROM account_notification
    WHERE member_id = %(member)s AND kind = 'approval' AND NOT is_cancelled
        AND value >= %(value)s AND currency IS NOT DISTINCT FROM %(currency)s
        AND happened_at BETWEEN %(start)s AND %(end)s
"""  # noqa: S608 - constants
_FINAL = f"""
    UNION ALL
    SELECT {_STORED}, true FROM account_notification
    WHERE member_id = %(member)s AND kind = 'approval'
        AND currency IS NOT DISTINCT FROM %(currency)s
        AND happened_at BETWEEN %(reserved_since)s AND %(final_until)s
"""  # noqa: S608 - constants


def _make_statement(others: str) -> str:
    """Return the statement that reads notifications with their entries.

    The rows are payments of the same value, preliminary amounts, and cancellations that
    wait for their approval.
    """
    return f"""
        WITH same AS (
            SELECT {_STORED} FROM account_notification
            WHERE member_id = %(member)s AND value = %(value)s
                AND currency IS NOT DISTINCT FROM %(currency)s
                AND happened_at BETWEEN %(start)s AND %(end)s
            UNION
            SELECT {_STORED} FROM account_notification
            WHERE member_id = %(member)s AND is_preliminary AND NOT is_cancelled
                AND happened_at BETWEEN %(reserved_since)s AND %(happened_at)s
            UNION
            SELECT {_STORED} FROM account_notification
            WHERE member_id = %(member)s AND value = %(value)s
                AND currency IS NOT DISTINCT FROM %(currency)s
                AND happened_at BETWEEN %(waiting_since)s AND %(waiting_until)s
                AND kind = 'cancellation' AND awaits_counterpart
        ), n AS (
            SELECT *, false AS is_other FROM same
            {others}
        )
        SELECT {_SELECTED} FROM n
        LEFT JOIN account a ON a.member_id = %(member)s AND a.id = n.wallet_id
        LEFT JOIN account_entry e ON e.member_id = %(member)s AND e.id = n.entry_id
        LEFT JOIN account w ON w.member_id = %(member)s AND w.id = e.wallet_id
        LEFT JOIN account_merged_entry m
            ON m.member_id = %(member)s AND m.entry_id = e.id AND m.type = 'expense'
        ORDER BY n.happened_at DESC, n.id DESC
    """  # noqa: S608 - constants


_KNOWN = _make_statement("")
_KNOWN_WITH_APPROVALS = _make_statement(_PARTLY_CANCELLED)
_KNOWN_WITH_FINAL = _make_statement(_FINAL)


def load_known(member: Member, payment: Fingerprint) -> Known:
    happened_at, statement = payment.happened_at, _KNOWN
    earlier, later = CHANNEL_WINDOW, CHANNEL_WINDOW
    if payment.kind == Kind.CANCELLATION:
        earlier, later = MAX_CANCELLATION_AGE, MAX_CLOCK_SKEW
        if payment.is_partial:
            statement = _KNOWN_WITH_APPROVALS
    elif payment.is_preliminary:
        statement = _KNOWN_WITH_FINAL
    params = {
        "member": member.pk,
        "value": payment.value,
        "currency": payment.currency,
        "happened_at": happened_at,
        "start": happened_at - earlier,
        "end": happened_at + later,
        "reserved_since": happened_at - MAX_PRELIMINARY_AGE,
        "final_until": happened_at + MAX_PRELIMINARY_AGE,
        "waiting_since": happened_at - MAX_CLOCK_SKEW,
        "waiting_until": happened_at + MAX_CANCELLATION_AGE,
    }
    rows: dict[bool, list[KnownRow]] = {False: [], True: []}
    with prepared_cursor() as cursor:
        cursor.execute(statement, params)
        names = [column.name for column in cursor.description]
        for values in cursor.fetchall():
            found = dict(zip(names, values, strict=True))
            rows[found["is_other"]].append(_make_row(found))
    return Known(tuple(rows[False]), tuple(rows[True]))


def _make_row(found: dict[str, Any]) -> KnownRow:
    happened_at: datetime = timezone.localtime(found["happened_at"])
    fingerprint = {name: found[name] for name in _FINGERPRINT}
    entry = former = None
    if found["m_memo"] is not None:
        former = FormerExpense(**{name: found[f"m_{name}"] for name in _FORMER})
    if found["e_id"] is not None:
        entry = KnownEntry(**{n: found[f"e_{n}"] for n in _ENTRY}, former=former)
    return KnownRow(
        fingerprint=Fingerprint(**fingerprint | {"happened_at": happened_at}),
        wallet_id=found["wallet_id"],
        entry=entry,
        **{name: found[name] for name in _ROW},
    )
