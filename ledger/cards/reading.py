"""Settings and movements of cards, read for their bills (spec 3.30).

Two statements, however many cards and bills there are: the settings of all cards, then
the movements of the cards that are asked for, with their balances in the same snapshot.
Movements before the bills that are shown come as sums. What is older than
`MONTHS_READ` before them is in the balance alone: the cost does not grow with the
history.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

import orjson

from core.db.rows import fetch_all
from ledger.cards.compute import (
    Account,
    Facts,
    Item,
    MonthSum,
    Payment,
    Refund,
    compute_account,
    find_open_month,
)
from ledger.cards.schedule import (
    Printed,
    Schedule,
    Term,
    move_month,
)
from ledger.models.base import EntryType

# Bills before those that are shown: what they carry and leave unpaid.
MONTHS_READ = 24
# Parts of the longest plan, and the months to its first bill.
_MONTHS_OF_PLANS = 24 + 2
_CARDS = """
    SELECT c.id, w.name, w.kind, c.terms::text AS terms, c.pay_from_wallet_id,
        c.auto_pay, c.billed_with_id,
        ARRAY(
            SELECT json_build_array(b.month, b.period_end, b.payment_date, b.amount)
            FROM account_card_bill b
            WHERE b.member_id = %(member)s AND b.card_id = c.id
        )::text[] AS printed
    FROM account_card c
    JOIN account w ON w.member_id = c.member_id AND w.id = c.id
    WHERE c.member_id = %(member)s
    ORDER BY w.sort_order, w.id
"""
# One row for each card: the bills of its group that are read, and where details end.
_GROUPS = """
    jsonb_to_recordset(%(cards)s::jsonb) AS g (
        card_id bigint, main_id bigint, cards bigint[], starts date[],
        anchor date, rows_since date, rows_until date, plans_since date,
        plan_month date
    )
"""
_COLUMNS = """
    e.id, e.date, e.memo, e.type, e.pending, e.installment_months,
    e.installment_parts, e.bill_month, e.refund_of_id, e.line_count
"""
# An entry with its effect on a card.
_OWN_EFFECT = "CASE WHEN e.type = 'income' THEN e.amount ELSE -e.amount END"
_LINE_EFFECT = "CASE WHEN e.type = 'income' THEN -l.amount ELSE l.amount END"
_OWN = f"g.card_id, {_COLUMNS}, {_OWN_EFFECT} AS effect, true AS is_own"
_OWN_ENTRIES = """
    g JOIN account_entry e ON e.member_id = %(member)s AND e.wallet_id = g.card_id
"""
_LINES = """
    g JOIN account_entry_line l ON l.member_id = %(member)s AND l.wallet_id = g.card_id
    JOIN account_entry e ON e.member_id = %(member)s AND e.id = l.entry_id
"""
# A move between two cards of one bill is none.
_OF_OTHERS = "(e.to_wallet_id IS NULL OR e.to_wallet_id <> ALL(g.cards))"
_IS_SHOWN = "e.date BETWEEN g.rows_since AND g.rows_until"
_IS_REFUND_OF_PLAN = "e.id IN (SELECT f.id FROM refund f)"
# Entries that reach into other bills are read one by one, whatever their date.
_REACHES = f"(e.bill_month IS NOT NULL OR {_IS_REFUND_OF_PLAN})"
_PLANS = f"""
    SELECT {_OWN}, g.main_id FROM {_OWN_ENTRIES}
        AND e.installment_months IS NOT NULL
        AND (e.date >= g.plans_since OR e.bill_month >= g.plan_month)
"""  # noqa: S608 - constants
# Refunds of purchases in parts, of the whole entry or of lines.
_REFUNDS = """
    SELECT p.main_id, r.id FROM plan p JOIN account_entry r
        ON r.member_id = %(member)s AND r.refund_of_id = p.id
    UNION
    SELECT p.main_id, l.entry_id FROM plan p JOIN account_entry_line l
        ON l.member_id = %(member)s AND l.refund_of_id = p.id
"""
# What is shown, and what reaches into it: parts, entries with a month, refunds of
# purchases in parts, and all that pays.
_DETAILS = f"""
    SELECT {_OWN} FROM {_OWN_ENTRIES}
        AND {_IS_SHOWN} AND e.installment_months IS NULL AND {_OF_OTHERS}
    UNION ALL
    SELECT card_id, id, date, memo, type, pending, installment_months,
        installment_parts, bill_month, refund_of_id, line_count, effect, is_own
    FROM plan
    UNION ALL
    SELECT {_OWN} FROM {_OWN_ENTRIES}
        AND NOT {_IS_SHOWN} AND e.bill_month >= g.plan_month
        AND e.installment_months IS NULL AND {_OF_OTHERS}
    UNION ALL
    SELECT {_OWN} FROM refund f
    JOIN account_entry e ON e.member_id = %(member)s AND e.id = f.id
    JOIN g ON g.main_id = f.main_id AND g.card_id = e.wallet_id
    WHERE NOT {_IS_SHOWN} AND e.bill_month IS NULL AND {_OF_OTHERS}
    UNION ALL
    SELECT g.card_id, {_COLUMNS}, e.amount, false
    FROM g JOIN account_entry e
        ON e.member_id = %(member)s AND e.to_wallet_id = g.card_id
        AND (e.date >= g.starts[1] OR e.bill_month >= g.anchor)
        AND e.wallet_id <> ALL(g.cards)
    UNION ALL
    SELECT g.card_id, {_COLUMNS}, {_LINE_EFFECT}, false FROM {_LINES}
        AND (e.date >= g.starts[1] OR e.bill_month >= g.anchor)
        AND ({_IS_SHOWN} OR {_REACHES} OR {_LINE_EFFECT} > 0)
"""  # noqa: S608 - constants
# Movements of other bills, from the first one on.
_OTHERS = f"""
    SELECT g.card_id, width_bucket(e.date, g.starts) AS bucket, {_OWN_EFFECT} AS effect
    FROM {_OWN_ENTRIES}
        AND e.date >= g.starts[1] AND e.date < g.rows_since
        AND e.installment_months IS NULL AND NOT {_REACHES}
        AND NOT e.pending AND {_OF_OTHERS}
    UNION ALL
    SELECT g.card_id, width_bucket(e.date, g.starts), {_OWN_EFFECT}
    FROM {_OWN_ENTRIES}
        AND e.date > g.rows_until
        AND e.installment_months IS NULL AND NOT {_REACHES}
        AND NOT e.pending AND {_OF_OTHERS}
    UNION ALL
    SELECT g.card_id, width_bucket(e.date, g.starts), {_LINE_EFFECT} FROM {_LINES}
        AND e.date >= g.starts[1] AND NOT {_IS_SHOWN} AND NOT {_REACHES}
        AND NOT e.pending AND {_LINE_EFFECT} < 0
"""  # noqa: S608 - constants
_READ = f"""
    WITH g AS MATERIALIZED (SELECT * FROM {_GROUPS}),
    plan AS MATERIALIZED ({_PLANS}),
    refund AS MATERIALIZED ({_REFUNDS}),
    m AS MATERIALIZED (SELECT * FROM ({_DETAILS}) d WHERE d.effect <> 0)
    SELECT
        (
            SELECT json_build_array(
                json_agg(m.card_id), json_agg(m.id), json_agg(m.date),
                json_agg(m.memo), json_agg(m.effect), json_agg(m.pending),
                json_agg(m.bill_month), json_agg(m.installment_months),
                json_agg(m.installment_parts), json_agg(m.type),
                json_agg(m.refund_of_id), json_agg(m.is_own)
            )::text FROM m
        ) AS details,
        (
            SELECT coalesce(json_agg(s), '[]')::text FROM (
                SELECT o.card_id, o.bucket,
                    coalesce(sum(-o.effect) FILTER (WHERE o.effect < 0), 0)::bigint
                        AS charges,
                    coalesce(sum(o.effect) FILTER (WHERE o.effect > 0), 0)::bigint
                        AS refunds
                FROM ({_OTHERS}) o GROUP BY 1, 2
            ) s
        ) AS sums,
        (
            SELECT coalesce(json_agg(json_build_array(
                l.entry_id, l.refund_of_id, l.amount
            )), '[]')::text
            FROM m JOIN account_entry_line l
                ON l.member_id = %(member)s AND l.entry_id = m.id
            WHERE m.type = 'income' AND m.line_count > 0 AND m.is_own
                AND l.refund_of_id IS NOT NULL
        ) AS portions,
        (
            SELECT json_object_agg(
                w.id, w.opening_balance + coalesce(t.balance, 0)
            )::text
            FROM account w LEFT JOIN account_wallet_total t
                ON t.member_id = w.member_id AND t.wallet_id = w.id
            WHERE w.member_id = %(member)s AND w.id IN (SELECT g.card_id FROM g)
        ) AS balances
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class StoredCard:
    """A card as its settings are stored; `terms` are empty without days of its own."""

    id: int
    name: str
    kind: str
    terms: tuple[Term, ...]
    pay_from_wallet_id: int | None
    auto_pay: bool
    billed_with_id: int | None
    printed: Mapping[date, Printed] = field(default_factory=dict)

    @property
    def main_id(self) -> int:
        return self.billed_with_id or self.id


@dataclass(frozen=True, slots=True)
class Group:
    """A card with a bill of its own, first, and the cards that stand on it."""

    main: StoredCard
    cards: tuple[StoredCard, ...]
    schedule: Schedule

    @property
    def card_ids(self) -> list[int]:
        return [card.id for card in self.cards]


class BillRange(NamedTuple):
    """The bills to show with their items; `last` None: all to come."""

    first: date
    last: date | None


class _CardRow(NamedTuple):
    id: int
    name: str
    kind: str
    terms: str
    pay_from_wallet_id: int | None
    auto_pay: bool
    billed_with_id: int | None
    printed: list[str]


def list_cards(member_id: int) -> list[StoredCard]:
    """Return all cards with settings, in the order of the wallets."""
    rows = fetch_all(_CARDS, {"member": member_id}, _CardRow)
    return [
        StoredCard(
            row.id,
            row.name,
            row.kind,
            tuple(Term.from_json(each) for each in orjson.loads(row.terms)),
            row.pay_from_wallet_id,
            row.auto_pay,
            row.billed_with_id,
            dict(map(_read_printed, row.printed)),
        )
        for row in rows
    ]


def _read_printed(text: str) -> tuple[date, Printed]:
    month, period_end, payment_date, amount = orjson.loads(text)
    printed = Printed(_to_date(period_end), _to_date(payment_date), amount)
    return date.fromisoformat(month), printed


def _to_date(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def list_groups(member_id: int) -> list[Group]:
    """Return the cards with bills, by the bill that they are on."""
    cards = list_cards(member_id)
    return [
        Group(
            main,
            (main, *(card for card in cards if card.billed_with_id == main.id)),
            Schedule(main.terms, main.printed),
        )
        for main in cards
        if main.terms
    ]


def find_group(groups: Iterable[Group], wallet_id: int) -> Group | None:
    """Return the group whose bill a card is on."""
    return next((group for group in groups if wallet_id in group.card_ids), None)


def read_accounts(
    member_id: int,
    ranges: Sequence[tuple[Group, BillRange]],
    today: date,
) -> list[Account]:
    """Return the bills of each group; those in its range have their items."""
    if not ranges:
        return []
    scopes = [_Scope(group, shown, today) for group, shown in ranges]
    params = {
        "member": member_id,
        "cards": orjson.dumps(
            [row for scope in scopes for row in scope.list_params()]
        ).decode(),
    }
    (found,) = fetch_all(_READ, params, _Found)
    main_of = {card: group.main.id for group, _ in ranges for card in group.card_ids}
    collected = _Collected(found, main_of)
    return [
        compute_account(scope.group.schedule, collected.facts_of(scope), today)
        for scope in scopes
    ]


class _Found(NamedTuple):
    details: str
    sums: str
    portions: str
    balances: str


class _Scope:
    """The bills and entries of one group that are read."""

    def __init__(self, group: Group, shown: BillRange, today: date) -> None:
        self.group = group
        schedule = group.schedule
        first = max(shown.first, schedule.first_month)
        self.anchor = max(schedule.first_month, move_month(first, -MONTHS_READ))
        last = max(first, find_open_month(schedule, today), shown.last or first)
        self.months = [self.anchor]
        while self.months[-1] <= last:
            self.months.append(move_month(self.months[-1], 1))
        self.starts = [schedule.period(month).start for month in self.months]
        self.rows_since = schedule.period(first).start
        self.rows_until = (
            date.max
            if shown.last is None
            else schedule.period(max(first, shown.last)).end
        )

    def list_params(self) -> list[dict[str, Any]]:
        plan_month = move_month(self.anchor, -_MONTHS_OF_PLANS)
        schedule = self.group.schedule
        return [
            {
                "card_id": card_id,
                "main_id": self.group.main.id,
                "cards": self.group.card_ids,
                "starts": self.starts,
                "anchor": self.anchor,
                "rows_since": self.rows_since,
                "rows_until": self.rows_until,
                "plans_since": schedule.period(plan_month).start,
                "plan_month": plan_month,
            }
            for card_id in self.group.card_ids
        ]


class _Move(NamedTuple):
    """A detail in the order of its columns; dates are texts."""

    card_id: int
    entry_id: int
    date: str
    memo: str
    effect: int
    is_pending: bool
    bill_month: str | None
    months: int | None
    parts: list[int] | None
    type: str
    refund_of: int | None
    is_own: bool


_EFFECT = _Move._fields.index("effect")


class _Collected:
    """The movements by the main card of their group."""

    def __init__(self, found: _Found, main_of: Mapping[int, int]) -> None:
        self.main_of = main_of
        self.balances: dict[str, int] = orjson.loads(found.balances or "{}")
        self.charges: dict[int, list[Item]] = defaultdict(list)
        self.refunds: dict[int, list[Refund]] = defaultdict(list)
        self.payments: dict[int, dict[int, Payment]] = defaultdict(dict)
        self.sums: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for each in orjson.loads(found.sums):
            self.sums[main_of[each["card_id"]]].append(each)
        portions: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for entry_id, purchase_id, amount in orjson.loads(found.portions):
            portions[entry_id][purchase_id] += amount
        # One list for each column is read in half the time of one for each row.
        columns = [column or () for column in orjson.loads(found.details)]
        for row in zip(*columns, strict=True):
            if row[_EFFECT] < 0:
                self._add_charge(*row)
                continue
            move = _Move._make(row)
            if move.is_own and move.type == EntryType.INCOME:
                refund = _make_refund(move, portions.get(move.entry_id, {}))
                self.refunds[main_of[move.card_id]].append(refund)
            elif not move.is_pending:
                self._add_payment(move)

    def _add_charge(
        self,
        card_id: int,
        entry_id: int,
        day: str,
        memo: str,
        effect: int,
        is_pending: bool,
        bill_month: str | None,
        months: int | None,
        parts: list[int] | None,
        *_: object,
    ) -> None:
        item = Item(
            entry_id,
            card_id,
            date.fromisoformat(day),
            memo,
            -effect,
            is_pending,
            _to_date(bill_month),
            months,
            tuple(parts) if parts else None,
        )
        self.charges[self.main_of[card_id]].append(item)

    def _add_payment(self, move: _Move) -> None:
        """Add what a transfer pays, which may have a line for each card."""
        payments = self.payments[self.main_of[move.card_id]]
        known = payments.get(move.entry_id)
        payments[move.entry_id] = Payment(
            move.entry_id,
            date.fromisoformat(move.date),
            move.effect + (known.amount if known else 0),
            _to_date(move.bill_month),
        )

    def facts_of(self, scope: _Scope) -> Facts:
        main_id = scope.group.main.id
        return Facts(
            sum(self.balances.get(str(card), 0) for card in scope.group.card_ids),
            scope.anchor,
            self.charges[main_id],
            self.refunds[main_id],
            list(self.payments[main_id].values()),
            [
                MonthSum(
                    each["card_id"],
                    scope.months[each["bucket"] - 1],
                    each["charges"],
                    each["refunds"],
                )
                for each in self.sums[main_id]
            ],
        )


def _make_refund(move: _Move, portions: Mapping[int, int]) -> Refund:
    """Make a refund of the whole entry, or of the purchases that its lines name."""
    if move.refund_of is not None:
        portions = {move.refund_of: move.effect}
    return Refund(
        move.entry_id,
        move.card_id,
        date.fromisoformat(move.date),
        move.effect,
        move.memo,
        portions,
        _to_date(move.bill_month),
        move.is_pending,
    )
