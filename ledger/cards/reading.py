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
    Charge,
    Facts,
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
_OWN = f"g.main_id, g.card_id, {_COLUMNS}, {_OWN_EFFECT} AS effect, true AS is_own"
# A move between two cards of one bill is none.
_OF_OTHERS = "(e.to_wallet_id IS NULL OR e.to_wallet_id <> ALL(g.cards))"
_PLANS = f"""
    SELECT {_OWN}, e.date >= g.starts[1] AS is_recent
    FROM g JOIN account_entry e
        ON e.member_id = %(member)s AND e.wallet_id = g.card_id
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
# Movements from the first bill on, and earlier ones that reach into it: parts, entries
# with a month, refunds of purchases in parts.
_MOVES = f"""
    SELECT {_OWN} FROM g JOIN account_entry e
        ON e.member_id = %(member)s AND e.wallet_id = g.card_id
        AND e.date >= g.starts[1] AND {_OF_OTHERS}
    UNION ALL
    SELECT main_id, card_id, id, date, memo, type, pending, installment_months,
        installment_parts, bill_month, refund_of_id, line_count, effect, is_own
    FROM plan WHERE NOT is_recent
    UNION ALL
    SELECT {_OWN} FROM g JOIN account_entry e
        ON e.member_id = %(member)s AND e.wallet_id = g.card_id
        AND e.bill_month >= g.plan_month AND e.date < g.starts[1]
        AND e.installment_months IS NULL AND {_OF_OTHERS}
    UNION ALL
    SELECT {_OWN} FROM refund f
    JOIN account_entry e ON e.member_id = %(member)s AND e.id = f.id
    JOIN g ON g.main_id = f.main_id AND g.card_id = e.wallet_id
    WHERE e.date < g.starts[1] AND e.bill_month IS NULL AND {_OF_OTHERS}
    UNION ALL
    SELECT g.main_id, g.card_id, {_COLUMNS}, e.amount, false
    FROM g JOIN account_entry e
        ON e.member_id = %(member)s AND e.to_wallet_id = g.card_id
        AND (e.date >= g.starts[1] OR e.bill_month >= g.anchor)
        AND e.wallet_id <> ALL(g.cards)
    UNION ALL
    SELECT g.main_id, g.card_id, {_COLUMNS}, {_LINE_EFFECT}, false
    FROM g JOIN account_entry_line l
        ON l.member_id = %(member)s AND l.wallet_id = g.card_id
    JOIN account_entry e ON e.member_id = %(member)s AND e.id = l.entry_id
        AND (e.date >= g.starts[1] OR e.bill_month >= g.anchor)
"""  # noqa: S608 - constants
_IS_DETAIL = """(
    m.date BETWEEN g.rows_since AND g.rows_until
    OR (m.effect > 0 AND NOT m.is_own)
    OR m.installment_months IS NOT NULL OR m.bill_month IS NOT NULL
    OR m.id IN (SELECT f.id FROM refund f)
)"""
_READ = f"""
    WITH g AS MATERIALIZED (SELECT * FROM {_GROUPS}),
    plan AS MATERIALIZED ({_PLANS}),
    refund AS MATERIALIZED ({_REFUNDS}),
    m AS MATERIALIZED ({_MOVES}),
    sorted AS MATERIALIZED (
        SELECT m.*, g.starts, {_IS_DETAIL} AS is_detail
        FROM m JOIN g ON g.card_id = m.card_id WHERE m.effect <> 0
    )
    SELECT
        (
            SELECT coalesce(json_agg(json_build_array(
                d.main_id, d.card_id, d.id, d.date, d.memo, d.type, d.pending,
                d.installment_months, d.installment_parts, d.bill_month,
                d.refund_of_id, d.effect, d.is_own
            )), '[]')::text FROM sorted d WHERE d.is_detail
        ) AS details,
        (
            SELECT coalesce(json_agg(s), '[]')::text FROM (
                SELECT d.main_id, d.card_id, width_bucket(d.date, d.starts) AS bucket,
                    coalesce(sum(-d.effect) FILTER (WHERE d.effect < 0), 0)::bigint
                        AS charges,
                    coalesce(sum(d.effect) FILTER (WHERE d.effect > 0), 0)::bigint
                        AS refunds
                FROM sorted d WHERE NOT d.is_detail AND NOT d.pending
                GROUP BY 1, 2, 3
            ) s
        ) AS sums,
        (
            SELECT coalesce(json_agg(json_build_array(
                l.entry_id, l.refund_of_id, l.amount
            )), '[]')::text
            FROM sorted d JOIN account_entry_line l
                ON l.member_id = %(member)s AND l.entry_id = d.id
            WHERE d.is_detail AND d.type = 'income' AND d.line_count > 0 AND d.is_own
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
    collected = _Collected(found)
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
    """What is read of one group."""

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

    main_id: int
    card_id: int
    entry_id: int
    date: str
    memo: str
    type: str
    is_pending: bool
    months: int | None
    parts: list[int] | None
    bill_month: str | None
    refund_of: int | None
    effect: int
    is_own: bool


class _Collected:
    """The movements by group."""

    def __init__(self, found: _Found) -> None:
        self.balances: dict[str, int] = orjson.loads(found.balances or "{}")
        self.charges: dict[int, list[Charge]] = defaultdict(list)
        self.refunds: dict[int, list[Refund]] = defaultdict(list)
        self.payments: dict[int, dict[int, Payment]] = defaultdict(dict)
        self.sums: list[dict[str, Any]] = orjson.loads(found.sums)
        portions: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for entry_id, purchase_id, amount in orjson.loads(found.portions):
            portions[entry_id][purchase_id] += amount
        for row in orjson.loads(found.details):
            self._add(row, portions)

    def _add(self, row: list[Any], portions: Mapping[int, Mapping[int, int]]) -> None:
        move = _Move(*row)
        day, month = date.fromisoformat(move.date), _to_date(move.bill_month)
        if move.effect < 0:
            typed = tuple(move.parts) if move.parts else None
            self.charges[move.main_id].append(
                Charge(
                    move.entry_id,
                    move.card_id,
                    day,
                    -move.effect,
                    move.memo,
                    move.months,
                    typed,
                    month,
                    move.is_pending,
                )
            )
        elif move.is_own and move.type == EntryType.INCOME:
            shares = portions.get(move.entry_id, {})
            if move.refund_of is not None:
                shares = {move.refund_of: move.effect}
            self.refunds[move.main_id].append(
                Refund(
                    move.entry_id,
                    move.card_id,
                    day,
                    move.effect,
                    move.memo,
                    shares,
                    month,
                    move.is_pending,
                )
            )
        elif not move.is_pending:
            # A transfer may have a line for each card.
            payments = self.payments[move.main_id]
            known = payments.get(move.entry_id)
            amount = move.effect + (known.amount if known else 0)
            payments[move.entry_id] = Payment(move.entry_id, day, amount, month)

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
                for each in self.sums
                if each["main_id"] == main_id
            ],
        )
