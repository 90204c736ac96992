"""Statistics in which installments count when their parts are paid (spec 3.30).

Kept totals count a purchase on its day. Its parts are moved from there.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from accounts.models import Member
from core.db.rows import fetch_parts
from ledger.cards.plans import (
    SPREAD,
    SPREAD_WITH_TAGS,
    read_moves,
    read_plans,
    window_params,
)
from ledger.cards.schedule import first_of_month
from ledger.cards.spread import Move, PlanLine, list_moves
from ledger.models.base import CategoryType
from ledger.periods import Period, Unit, month_period, period_containing, year_period
from ledger.statistics.cash_flow import (
    CategoryFlow,
    Flow,
    TagFlow,
    WalletFlow,
    category_flows,
)
from ledger.statistics.statistics import (
    CATEGORY_SUMS,
    DAYS,
    MONTHS,
    WEEKS_OR_MONTHS,
    MonthStatistics,
    RangeStatistics,
    YearStatistics,
    build_month,
    build_range,
    build_year,
    flows_by_start,
    month_params,
    range_params,
)

# Parts may fall on categories, wallets and tags without entries: all are named.
_CATEGORIES = f"""
    SELECT coalesce(t.type, c.type) AS type, c.id AS category_id, c.name AS category,
        p.name AS parent, coalesce(t.amount, 0) AS amount,
        coalesce(t.refunded, 0) AS refunded, coalesce(t.count, 0) AS count
    FROM ({CATEGORY_SUMS}) t
    FULL JOIN (
        SELECT id, type, name, parent_id FROM account_category
        WHERE member_id = %(member)s
    ) c ON c.id = t.category_id
    LEFT JOIN account_category p ON p.member_id = %(member)s AND p.id = c.parent_id
"""  # noqa: S608 - constants
_WALLETS = """
    SELECT w.id AS wallet_id, w.name, coalesce(t.income, 0) AS income,
        coalesce(t.expense, 0) AS expense, coalesce(t.refunded, 0) AS refunded,
        coalesce(t.transfer_in, 0) AS transfer_in,
        coalesce(t.transfer_out, 0) AS transfer_out,
        coalesce(t.flow_count, 0) AS count
    FROM (
        SELECT * FROM account_wallet_month_total
        WHERE member_id = %(member)s AND month = %(start)s
    ) t
    FULL JOIN (
        SELECT id, name, sort_order FROM account WHERE member_id = %(member)s
    ) w ON w.id = t.wallet_id
    ORDER BY w.sort_order NULLS LAST, w.id
"""
_TAGS = """
    SELECT g.id, g.name AS tag,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'income'), 0)::bigint AS income,
        coalesce(sum(t.amount) FILTER (WHERE t.type = 'expense'), 0)::bigint AS expense,
        coalesce(sum(t.refunded), 0)::bigint AS refunded,
        coalesce(sum(t.entry_count), 0) AS count
    FROM account_tag g
    LEFT JOIN account_tag_total t ON t.member_id = %(member)s AND t.tag_id = g.id
        AND t.month = %(start)s
    WHERE g.member_id = %(member)s
    GROUP BY g.id, g.name, g.sort_order
    ORDER BY g.sort_order, g.id
"""
_MONTH = {
    "days": DAYS,
    "categories": _CATEGORIES,
    "wallets": _WALLETS,
    "tags": _TAGS,
    **SPREAD_WITH_TAGS,
}
_YEAR = {"months": MONTHS, "categories": _CATEGORIES, **SPREAD}
# Sums that decide if a category, wallet or tag is listed.
_SUMS = (
    *("count", "amount", "income", "expense", "refunded"),
    *("transfer_in", "transfer_out"),
)

Row = dict[str, Any]


def get_month_statistics(member: Member, year: int, month: int) -> MonthStatistics:
    """Return a month, and the month before, with parts in place of purchases."""
    params = month_params(member, year, month)
    window = Period(params["since"], params["until"])
    found = fetch_parts(_MONTH, params | window_params(window))
    calendar, plans = read_plans(found)
    flows = flows_by_start(found["days"])
    _add_to_flows(flows, list_moves(plans, calendar, window), lambda day: day)
    of_month = list_moves(plans, calendar, month_period(year, month))
    return build_month(
        params["start"],
        flows,
        _move_categories(found["categories"], of_month),
        _move_wallets(found["wallets"], of_month),
        _move_tags(found["tags"], of_month),
    )


def get_year_statistics(member: Member, year: int) -> YearStatistics:
    period = year_period(year)
    params = {"member": member.pk, "start": period.start, "end": period.end}
    found = fetch_parts(_YEAR, params | window_params(period))
    moves = read_moves(found, period)
    flows = flows_by_start(found["months"])
    _add_to_flows(flows, moves, first_of_month)
    return build_year(period, flows, _move_categories(found["categories"], moves))


def get_range_statistics(member: Member, period: Period, unit: Unit) -> RangeStatistics:
    query = DAYS if unit is Unit.DAY else WEEKS_OR_MONTHS
    params = range_params(member, period, unit) | window_params(period)
    found = fetch_parts({"flows": query, **SPREAD}, params)
    flows = flows_by_start(found["flows"])
    moves = read_moves(found, period)
    _add_to_flows(flows, moves, lambda day: period_containing(day, unit).start)
    return build_range(period, unit, flows)


def _add_to_flows(
    flows: dict[date, Flow], moves: Iterable[Move], start_of: Callable[[date], date]
) -> None:
    flow_of_day: dict[date, Flow] = {}
    for move in moves:
        for day, entry_count, gains in move.list_days():
            flow = flow_of_day.get(day)
            if flow is None:
                flow = flow_of_day[day] = flows.setdefault(start_of(day), Flow())
            flow.count += entry_count
            for line, gain in gains:
                if line.type != CategoryType.EXPENSE:
                    flow.income -= gain
                    continue
                flow.expense += gain
                if line.amount < 0:
                    flow.refunded -= gain


def _move_categories(rows: list[Row], moves: Iterable[Move]) -> list[CategoryFlow]:
    by_key = {(row["type"], row["category_id"]): row for row in rows}
    for move in moves:
        keys = set()
        for line, gain in move.list_gains():
            key = line.type, line.category_id
            row = by_key.get(key)
            if row is None:
                row = by_key[key] = _category_row(line)
            amount, refunded = _count_gain(line, gain)
            row["amount"] += amount
            row["refunded"] += refunded
            keys.add(key)
        # A purchase counts once in each of its categories.
        for key in keys:
            by_key[key]["count"] += move.entry_count
    return category_flows([row for row in by_key.values() if _is_listed(row)])


def _count_gain(line: PlanLine, gain: int) -> tuple[int, int]:
    """Return what a gain adds to its type's amount, and to `refunded`.

    A line of an expense below 0 is a refund.
    """
    if line.type != CategoryType.EXPENSE:
        return -gain, 0
    return gain, -gain if line.amount < 0 else 0


def _category_row(line: PlanLine) -> Row:
    """Return an empty row of entries without a category; the others are read."""
    sums = {"amount": 0, "refunded": 0, "count": 0}
    return {
        "type": line.type,
        "category_id": None,
        "category": None,
        "parent": None,
    } | sums


def _move_wallets(rows: list[Row], moves: Iterable[Move]) -> list[WalletFlow]:
    by_id = {row["wallet_id"]: row for row in rows}
    for move in moves:
        wallet_id = move.plan.wallet_id
        row = by_id.get(wallet_id)
        if row is None:
            row = by_id[wallet_id] = _wallet_row()
        _add_to_row(row, move)
    listed = [row for row in by_id.values() if _is_listed(row)]
    return [
        WalletFlow(**{k: v for k, v in row.items() if k != "count"}) for row in listed
    ]


def _wallet_row() -> Row:
    """Return an empty row of entries without a wallet, which are last."""
    sums = {name: 0 for name in _SUMS if name != "amount"}
    return {"wallet_id": None, "name": None} | sums


def _move_tags(rows: list[Row], moves: Iterable[Move]) -> list[TagFlow]:
    by_id = {row.pop("id"): row for row in rows}
    for move in moves:
        for tag_id in move.plan.tag_ids:
            _add_to_row(by_id[tag_id], move)
    return [TagFlow(**row) for row in by_id.values() if _is_listed(row)]


def _add_to_row(row: Row, move: Move) -> None:
    row["count"] += move.entry_count
    for line, gain in move.list_gains():
        amount, refunded = _count_gain(line, gain)
        row[line.type] += amount
        row["refunded"] += refunded


def _is_listed(row: Mapping[str, Any]) -> bool:
    """Tell if something counts here, such as a part of a purchase of before."""
    return any(row.get(name) for name in _SUMS)
