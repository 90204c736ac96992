"""The stored rollups against the entries themselves."""

from collections import defaultdict
from typing import Any

from ledger.models import (
    CategoryWalletRollup,
    DayRollup,
    Entry,
    EntryTag,
    LedgerRollup,
    MemoRollup,
    MonthRollup,
    TagRollup,
    WalletRollup,
)

Groups = defaultdict[Any, list[int]]


def recompute_rollups() -> Any:
    """The tables as they must be, by key: an amount or count, and how many entries."""
    by_entry: Groups = defaultdict(lambda: [0, 0])
    by_month: Groups = defaultdict(lambda: [0, 0])
    by_day: Groups = defaultdict(lambda: [0, 0])
    by_tag: Groups = defaultdict(lambda: [0, 0])
    by_wallet: Groups = defaultdict(lambda: [0, 0])
    by_member: Groups = defaultdict(lambda: [0, 0])
    by_memo: Groups = defaultdict(lambda: [0, 0])
    tags = defaultdict(list)
    for link in EntryTag.objects.all():
        tags[link.entry_id].append(link.tag_id)
    for entry in Entry.objects.all():
        member, type_, pending = entry.member_id, entry.type, entry.pending
        month, wallet = entry.date.replace(day=1), entry.wallet_id
        groups = [
            by_month[member, month, type_, pending],
            by_entry[member, month, type_, pending, entry.category_id, wallet],
            by_day[member, entry.date, type_, pending, wallet],
        ]
        if not pending:
            groups += [by_tag[member, month, tag, type_] for tag in tags[entry.pk]]
            memo = "".join(entry.memo.lower().split())
            if memo and entry.category_id:
                total = by_memo[member, type_, memo, entry.category_id]
                total[:] = total[0] + 1, total[1] + 1
        for total in groups:
            total[0] += entry.amount
            total[1] += 1
        by_member[member][0] += pending
        by_member[member][1] += 1
        if wallet is not None:
            sign = 1 if type_ == "income" else -1
            by_wallet[wallet][0] += 0 if pending else sign * entry.amount
            by_wallet[wallet][1] += 1
    tables = (by_entry, by_month, by_day, by_tag, by_wallet, by_member, by_memo)
    return tuple(dict(table) for table in tables)


def stored_rollups() -> Any:
    """The tables as they are; groups without entries must be all zero."""
    month = ("member_id", "month", "type", "pending")
    day = ("member_id", "date", "type", "pending", "wallet_id")
    tables = (
        (CategoryWalletRollup, (*month, "category_id", "wallet_id"), "amount"),
        (MonthRollup, month, "amount"),
        (DayRollup, day, "amount"),
        (TagRollup, ("member_id", "month", "tag_id", "type"), "amount"),
        (WalletRollup, ("wallet_id",), "balance"),
        (LedgerRollup, ("member_id",), "pending_count"),
        (MemoRollup, ("member_id", "type", "memo", "category_id"), "entry_count"),
    )
    kept = []
    for model, key, amount in tables:
        found = {}
        for row in model.objects.values(*key, amount, "entry_count"):
            value = [row[amount], row["entry_count"]]
            if value[1] == 0:
                assert value == [0, 0], f"{model.__name__} {row}"
            else:
                name = row[key[0]] if len(key) == 1 else tuple(row[k] for k in key)
                found[name] = value
        kept.append(found)
    return tuple(kept)


def assert_rollups_are_right() -> None:
    assert stored_rollups() == recompute_rollups()
