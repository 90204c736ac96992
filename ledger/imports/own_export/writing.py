"""Writes an exported ledger into an empty one, under new ids."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import orjson
from django.conf import settings
from django.db import DataError, IntegrityError
from django.utils import timezone
from django.utils.translation import gettext

from ledger.base.bulk_rows import copy_rows, reserve_ids
from ledger.base.encryption import account_number_associated_data, encrypt
from ledger.base.ledger_write import LockedLedger
from ledger.entry_shape import EXPENSE, INCOME, is_reversal
from ledger.errors import ImportUnreadableError
from ledger.imports.own_export.columns import (
    IMPORT_KEYS,
    LINES,
    LISTS,
    TAGS,
    Field,
    OwnList,
)
from ledger.imports.own_export.reading import OwnExport, Row
from ledger.models import (
    Budget,
    BudgetIncome,
    Category,
    DeletedClientId,
    DismissedTransfer,
    Entry,
    LayoutKind,
    Ledger,
    Notification,
    QuickEntry,
    RecurringRule,
    Stock,
    Tag,
    TaughtLayout,
    Wallet,
)
from ledger.models.base import MAX_ENTRIES_CONSTRAINT
from ledger.models.card_notifications import digest_template
from ledger.operations.after_undo import require_holdings
from ledger.rollups.definitions import bulk_write

_OF_LEDGER: tuple[Any, ...] = (
    *(Wallet, Category, Tag, Entry, QuickEntry, RecurringRule, Budget),
    *(BudgetIncome, Stock, Notification, TaughtLayout),
)
_REVERSIBLE = frozenset({"entries", "mergedEntries", "quickEntries", "recurring"})


def is_empty(ledger: LockedLedger) -> bool:
    """Return whether the ledger has nothing that the file could meet."""
    return not any(
        model.objects.owned_by(ledger.member).exists() for model in _OF_LEDGER
    )


def write_export(
    ledger: LockedLedger, export: OwnExport
) -> Mapping[str, Mapping[int, int]]:
    """Write all lists, and return the new ids by list and by the id in the file.

    Raises `ImportUnreadableError` for rows that break a rule of the ledger.
    """
    writer = _Writer(ledger, export)
    try:
        with bulk_write(ledger):
            writer.write()
        require_holdings(ledger, writer.list_first_trades())
    except (IntegrityError, DataError) as error:
        if MAX_ENTRIES_CONSTRAINT in str(error):
            raise
        detail = gettext("The export breaks a rule of the ledger.")
        raise ImportUnreadableError(detail) from error
    return writer.ids


class _Writer:
    """`ids` are the new ids of rows, by list and by the id in the file."""

    def __init__(self, ledger: LockedLedger, export: OwnExport) -> None:
        self.ledger, self.export = ledger, export
        self.member_id = ledger.member.pk
        self.ids: dict[str, dict[int, int]] = defaultdict(dict)

    def write(self) -> None:
        for each in LISTS:
            if each.has_id:
                rows = self.export.rows[each.name]
                new = reserve_ids(each.table, len(rows)) if rows else []
                old = (row["id"] for row in rows)
                self.ids[each.name] = dict(zip(old, new, strict=True))
        # Incomes that were merged had an id of their own.
        merged = self.export.rows["mergedEntries"]
        formers = {row["former_id"] for row in merged if row["type"] == INCOME}
        new = reserve_ids(Entry._meta.db_table, len(formers)) if formers else []
        self.former_ids = dict(zip(sorted(formers), new, strict=True))
        for each in LISTS:
            if each.name != IMPORT_KEYS:
                self._write_list(each)
            if each.name in LINES:
                self._write_lines(each.name)
                self._write_tags(each.name)
        self._write_dismissed()
        self._keep_client_ids()
        rows_of_ledger = Ledger.objects.owned_by(self.ledger.member)
        rows_of_ledger.update(captures_bank_texts=self.export.captures_bank_texts)

    def list_first_trades(self) -> list[tuple[int, date]]:
        """Return the first day on which each stock is traded."""
        days: dict[int, date] = {}
        for row in self.export.rows["trades"]:
            stock_id = self.ids["stocks"][row["stock_id"]]
            days[stock_id] = min(row["date"], days.get(stock_id, row["date"]))
        return list(days.items())

    def _write_list(self, each: OwnList) -> None:
        rows = self.export.rows[each.name]
        if not rows:
            return
        if each.name == "entries":
            # A refund may come before its expense.
            rows = sorted(rows, key=lambda row: row["refund_of_id"] is not None)
        made = [self._make_row(each, row) for row in rows]
        columns = list(made[0])
        copy_rows(each.table, columns, ([row[c] for c in columns] for row in made))

    def _make_row(self, each: OwnList, row: Row) -> Row:
        made: Row = {"member_id": self.member_id}
        if each.has_id:
            made["id"] = self.ids[each.name][row["id"]]
        for field in each.fields.values():
            made[field.column] = self._new_value(field, row[field.column])
        if each.name in _REVERSIBLE:
            made["is_reversal"] = is_reversal(row["type"], row.get("category_type"))
        if each.name == "entries":
            lines = self.export.lines["entries"].get(row["id"], ())
            made["line_count"] = len(lines)
        return made | self._more_columns(each.name, row)

    def _more_columns(self, name: str, row: Row) -> Row:
        if name == "wallets":
            keys = settings.ACCOUNT_NUMBER_KEYS
            context = account_number_associated_data(self.member_id)
            number = encrypt(row["account_number"] or "", keys, context)
            return {"account_number": number}
        if name == "mergedEntries":
            is_income = row["type"] == INCOME
            former = self.former_ids.get(row["former_id"]) if is_income else None
            return {"former_id": former or self.ids["entries"][row["entry_id"]]}
        if name == "budgets":
            return {"type": EXPENSE}
        if name == "cards":
            terms = [term.to_json() for term in row["terms"]]
            return {
                "terms": orjson.dumps(terms).decode(),
                # The job looks at it.
                "next_payment_on": timezone.localdate() if row["auto_pay"] else None,
            }
        if name == "layouts":
            digest = digest_template(
                row["template"] or "", is_unsure=bool(row["is_unsure"])
            )
            is_known = row["kind"] in LayoutKind.values
            return {
                "template_digest": digest,
                "kind": row["kind"] if is_known else LayoutKind.APPROVAL.value,
                "is_complete": bool(row["is_complete"]),
                "is_unsure": bool(row["is_unsure"]),
                "is_name_guessed": bool(row["is_name_guessed"]),
            }
        if name == "notifications":
            return {"is_confirmed": bool(row["is_confirmed"])}
        return {}

    def _new_value(self, field: Field, value: Any) -> Any:
        if field.refers_to is None:
            return value
        ids = self.ids[field.refers_to]
        if field.is_list:
            return [ids[item] for item in value]
        return None if value is None else ids[value]

    def _write_lines(self, name: str) -> None:
        table, owner = LINES[name]
        by_owner = self.export.lines[name]
        if not by_owner:
            return
        columns = ["member_id", owner, "position", "amount", "category_id"]
        columns += ["category_type", "wallet_id", "memo"]
        has_refunds = name == "entries"
        if has_refunds:
            columns.append("refund_of_id")
        copy_rows(
            table,
            columns,
            (
                self._make_line(self.ids[name][owner_id], position, line, has_refunds)
                for owner_id, lines in by_owner.items()
                for position, line in enumerate(lines)
            ),
        )

    def _make_line(
        self, owner_id: int, position: int, line: Row, has_refunds: bool
    ) -> list[Any]:
        category, wallet = line["category_id"], line["wallet_id"]
        made = [self.member_id, owner_id, position, line["amount"]]
        made.append(None if category is None else self.ids["categories"][category])
        made.append(line["category_type"])
        made.append(None if wallet is None else self.ids["wallets"][wallet])
        made.append(line["memo"])
        if has_refunds:
            refund = line["refund_of_id"]
            made.append(None if refund is None else self.ids["entries"][refund])
        return made

    def _write_tags(self, name: str) -> None:
        table, owner = TAGS[name]
        links = [
            (self.member_id, self.ids[name][owner_id], self.ids["tags"][tag], number)
            for owner_id, tags in self.export.tags[name].items()
            for number, tag in enumerate(tags)
        ]
        if links:
            copy_rows(table, ["member_id", owner, "tag_id", "position"], links)

    def _write_dismissed(self) -> None:
        entries = {row["id"]: row for row in self.export.rows["entries"]}
        DismissedTransfer.objects.bulk_create(
            DismissedTransfer(
                member_id=self.member_id,
                expense_id=self.ids["entries"][out_id],
                income_id=self.ids["entries"][in_id],
                **self._describe("expense", entries[out_id]),
                **self._describe("income", entries[in_id]),
            )
            for out_id, in_id in self.export.dismissed
        )

    def _describe(self, side: str, entry: Row) -> dict[str, Any]:
        wallet = entry["wallet_id"]
        return {
            f"{side}_amount": entry["amount"],
            f"{side}_date": entry["date"],
            f"{side}_wallet_id": wallet and self.ids["wallets"][wallet],
        }

    def _keep_client_ids(self) -> None:
        """Keep those of merged incomes known, until the transfer is taken apart."""
        rows: Iterable[Mapping[str, Any]] = self.export.rows["mergedEntries"]
        ids = [row["client_id"] for row in rows if row["client_id"] is not None]
        found: Sequence[DeletedClientId] = [
            DeletedClientId(member_id=self.member_id, client_id=each) for each in ids
        ]
        DeletedClientId.objects.bulk_create(found, ignore_conflicts=True)
