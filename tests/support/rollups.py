"""The stored rollups against the entries themselves."""

from collections import Counter, defaultdict
from typing import Any

from ledger.models import (
    CategoryRollup,
    DayRollup,
    Entry,
    EntryTag,
    Ledger,
    MemoRollup,
    TagRollup,
    WalletMonthRollup,
    WalletRollup,
)

COUNTS = (
    *("income_count", "expense_count"),
    *("pending_income_count", "pending_expense_count"),
)
# Each table with its key and what it adds up.
TABLES: dict[Any, tuple[tuple[str, ...], tuple[str, ...]]] = {
    Ledger: (("member_id",), COUNTS),
    DayRollup: (
        ("member_id", "date"),
        ("income", "expense", "wallet_change", *COUNTS),
    ),
    WalletMonthRollup: (
        ("member_id", "month", "wallet_id"),
        ("income", "expense", *COUNTS),
    ),
    CategoryRollup: (
        ("member_id", "month", "type", "category_id"),
        ("amount", "entry_count", "pending_count"),
    ),
    WalletRollup: (("member_id", "wallet_id"), ("balance", "entry_count")),
    MemoRollup: (("member_id", "type", "memo", "category_id"), ("entry_count",)),
    TagRollup: (("member_id", "month", "type", "tag_id"), ("amount", "entry_count")),
}


def recompute_rollups() -> dict[str, dict[Any, Any]]:
    """The tables as they must be, by key, without what adds up to nothing."""
    tags = defaultdict(list)
    for link in EntryTag.objects.all():
        tags[link.entry_id].append(link.tag_id)
    tables: dict[Any, dict[Any, Counter[str]]] = {
        model: defaultdict(Counter) for model in TABLES
    }
    for entry in Entry.objects.all():
        member, month = entry.member_id, entry.date.replace(day=1)
        name = f"{'pending_' if entry.pending else ''}{entry.type}_count"
        amount = 0 if entry.pending else entry.amount
        change = amount if entry.type == "income" else -amount
        flows = {entry.type: amount, name: 1}
        counted = "pending_count" if entry.pending else "entry_count"
        tables[Ledger][member,].update({name: 1})
        tables[DayRollup][member, entry.date].update(flows)
        tables[WalletMonthRollup][member, month, entry.wallet_id or 0].update(flows)
        category = (member, month, entry.type, entry.category_id or 0)
        tables[CategoryRollup][category].update({"amount": amount, counted: 1})
        if entry.wallet_id is not None:
            tables[DayRollup][member, entry.date].update({"wallet_change": change})
            tables[WalletRollup][member, entry.wallet_id].update(
                {"balance": change, "entry_count": 1}
            )
        if not entry.pending:
            memo = "".join(entry.memo.lower().split())
            if memo and entry.category_id:
                tables[MemoRollup][member, entry.type, memo, entry.category_id].update(
                    {"entry_count": 1}
                )
            for tag in tags[entry.pk]:
                tables[TagRollup][member, month, entry.type, tag].update(
                    {"amount": amount, "entry_count": 1}
                )
    return {
        model.__name__: {key: sums for key, sums in table.items() if any(sums.values())}
        for model, table in tables.items()
    }


def stored_rollups() -> dict[str, dict[Any, Any]]:
    """The tables as they are, by key, without rows that are all zero."""
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
