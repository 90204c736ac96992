"""The stored rollups against the entries themselves."""

from collections import Counter, defaultdict
from typing import Any

from ledger.entry_shape import LineShape
from ledger.models import (
    CategoryRollup,
    DayRollup,
    Entry,
    EntryLine,
    EntryTag,
    Ledger,
    MemoRollup,
    TagRollup,
    WalletMonthRollup,
    WalletRollup,
)
from tests.support.effects import Effects, compute_effects, direction

TYPES = ("income", "expense", "transfer")
COUNTS = tuple(
    f"{prefix}{type_}_count" for prefix in ("", "pending_") for type_ in TYPES
)
FLOWS = (
    *("income", "expense", "refunded", "excluded_income", "excluded_expense"),
    *("flow_count", "excluded_count", "transferring_count"),
)
# Each table with its key and what it adds up.
TABLES: dict[Any, tuple[tuple[str, ...], tuple[str, ...]]] = {
    Ledger: (("member_id",), COUNTS),
    DayRollup: (
        ("member_id", "date"),
        (*FLOWS, "wallet_change", "transferred", *COUNTS),
    ),
    WalletMonthRollup: (
        ("member_id", "month", "wallet_id"),
        (*FLOWS, "wallet_change", "transfer_in", "transfer_out", *COUNTS),
    ),
    CategoryRollup: (
        ("member_id", "month", "type", "category_id"),
        ("amount", "refunded", "entry_count", "pending_count", "excluded_count"),
    ),
    WalletRollup: (("member_id", "wallet_id"), ("balance", "entry_count")),
    MemoRollup: (("member_id", "type", "memo", "category_id"), ("entry_count",)),
    TagRollup: (
        ("member_id", "month", "type", "tag_id"),
        ("amount", "refunded", "entry_count"),
    ),
}


def list_lines(entry: Entry) -> list[LineShape]:
    """Return the lines of an entry by ids; a flat entry is its only line."""
    if not entry.line_count:
        return [
            LineShape(
                entry.amount, entry.category_id, entry.category_type, entry.to_wallet_id
            )
        ]
    lines = EntryLine.objects.filter(member_id=entry.member_id, entry_id=entry.pk)
    return [
        LineShape(line.amount, line.category_id, line.category_type, line.wallet_id)
        for line in lines
    ]


def effects_of(entry: Entry) -> Effects:
    return compute_effects(entry.type, entry.wallet_id, list_lines(entry))


def recompute_rollups() -> dict[str, dict[Any, Any]]:
    """Return the tables as they must be, by key, without what adds up to nothing."""
    tags = defaultdict(list)
    for link in EntryTag.objects.all():
        tags[link.entry_id].append(link.tag_id)
    tables: dict[Any, dict[Any, Counter[str]]] = {
        model: defaultdict(Counter) for model in TABLES
    }
    for entry in Entry.objects.exclude(line_count=None):
        _add_entry(tables, entry, tags[entry.pk])
    return {
        model.__name__: {key: sums for key, sums in table.items() if any(sums.values())}
        for model, table in tables.items()
    }


def _add_entry(  # noqa: C901 - one table after the other
    tables: Any, entry: Entry, tags: list[int]
) -> None:
    member, month = entry.member_id, entry.date.replace(day=1)
    lines, effects = list_lines(entry), effects_of(entry)
    is_left_out = entry.excluded and not entry.pending
    counts = {f"{'pending_' * entry.pending}{entry.type}_count": 1}
    sign = direction(entry.type)
    # By type and category, with what was taken from an expense.
    flows: dict[Any, Counter[str]] = defaultdict(Counter)
    for line in lines:
        if line.wallet is None:
            is_same = (sign == 1) == (line.category_type == "income")
            amount = line.amount if is_same else -line.amount
            back = max(-amount, 0) if line.category_type == "expense" else 0
            key = line.category_type, line.category or 0
            flows[key].update({"amount": amount, "refunded": back})
    moved = [sign * line.amount for line in lines if line.wallet is not None]
    came_in = sum(max(each, 0) for each in moved)
    went_out = sum(max(-each, 0) for each in moved)
    refunded = sum(each["refunded"] for each in flows.values())
    sums: Counter[str] = Counter()
    balances: dict[Any, int] = {}
    if not entry.pending:
        balances = dict(effects.balances)
        if is_left_out:
            sums["excluded_income"], sums["excluded_expense"] = (
                effects.income,
                effects.expense,
            )
            sums["excluded_count"] = int(bool(flows))
        else:
            sums["income"], sums["expense"] = effects.income, effects.expense
            sums["refunded"] = refunded
            sums["flow_count"] = int(bool(flows))
            sums["transferring_count"] = int(bool(moved))
    tables[Ledger][member,].update(counts)
    day = tables[DayRollup][member, entry.date]
    day.update(counts)
    day.update(sums)
    day["wallet_change"] += sum(balances.values())
    if sums["transferring_count"]:
        day["transferred"] += came_in + went_out
    own = tables[WalletMonthRollup][member, month, entry.wallet_id or 0]
    own.update(sums)
    others = {line.wallet for line in lines if line.wallet is not None}
    for wallet_id in {entry.wallet_id or 0, *others}:
        row = tables[WalletMonthRollup][member, month, wallet_id]
        row.update(counts)
        if not entry.pending:
            change = balances.get(wallet_id, sign * entry.amount)
            row["wallet_change"] += change
            if not entry.excluded:
                of_wallet = moved
                if wallet_id in others:
                    of_wallet = [
                        -sign * line.amount
                        for line in lines
                        if line.wallet == wallet_id
                    ]
                row["transfer_in"] += sum(max(each, 0) for each in of_wallet)
                row["transfer_out"] += sum(max(-each, 0) for each in of_wallet)
        if wallet_id:
            tables[WalletRollup][member, wallet_id].update(
                {"balance": balances.get(wallet_id, 0), "entry_count": 1}
            )
    for (type_, category_id), flow in flows.items():
        row = tables[CategoryRollup][member, month, type_, category_id]
        if entry.pending:
            row["pending_count"] += 1
        elif entry.excluded:
            row["excluded_count"] += 1
        else:
            row.update(flow)
            row["entry_count"] += 1
    if entry.pending or entry.excluded:
        return
    memo = "".join(entry.memo.lower().split())
    if memo and entry.category_id and entry.type == entry.category_type:
        tables[MemoRollup][member, entry.type, memo, entry.category_id].update(
            {"entry_count": 1}
        )
    types = sorted({type_ for type_, _ in flows})
    for tag in tags:
        for type_ in types:
            row = tables[TagRollup][member, month, type_, tag]
            for key, flow in flows.items():
                if key[0] == type_:
                    row.update(flow)
            row["entry_count"] += int(type_ == types[0])


def stored_rollups() -> dict[str, dict[Any, Any]]:
    """Return the tables as they are, by key, without rows that are all zero."""
    stored = {}
    for model, (key, columns) in TABLES.items():
        rows = model.objects.values(*key, *columns)
        stored[model.__name__] = {
            tuple(row[each] for each in key): Counter(
                {each: row[each] for each in columns}
            )
            for row in rows
            if any(row[each] for each in columns)
        }
    return stored


def assert_rollups_are_right() -> None:
    assert stored_rollups() == recompute_rollups()
