"""A ledger made anew from an exported JSON file, by nothing but the file."""

import hashlib
import json
import re
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

from accounts.models import Member
from ledger.entry_shape import default_category_type
from ledger.export.json_shape import LINES, LISTS, ExportList, get_default

# Lists by fields that refer to their rows.
TARGETS = {
    "walletId": "wallets",
    "toWalletId": "wallets",
    "payFromWalletId": "wallets",
    "billedWithId": "wallets",
    "excludedCategoryIds": "categories",
    "excludedTagIds": "tags",
    "categoryId": "categories",
    "parentId": "categories",
    "tagIds": "tags",
    "entryId": "entries",
    "refundOf": "entries",
    "outId": "entries",
    "inId": "entries",
    "ruleId": "recurring",
    "stockId": "stocks",
    "notificationIds": "notifications",
    "paymentId": "notifications",
}
# Tables of lines and tags, and their column for the row.
PARTS = {
    "entries": ("account_entry_line", "account_entry_tag", "entry_id"),
    "recurring": ("account_recurring_line", "account_recurring_tag", "rule_id"),
    "quickEntries": (
        "account_quick_entry_line",
        "account_quick_entry_tag",
        "quick_entry_id",
    ),
}
# Columns that the database computes, or that come after the rows they refer to.
LATER = {LINES, "tagIds", "refundOf"}
GENERATED = {"categoryType"}


class RebuiltLedger:
    """Writes the rows of a file for a member who has none, with ids of their own."""

    def __init__(self, member: Member, found: dict[str, Any]) -> None:
        self.member, self.found = member, found
        self.ids: dict[tuple[str, int], int] = {}

    def write(self) -> None:
        settings = self.found["settings"]
        self._execute(
            "UPDATE account_ledger SET captures_bank_texts = %s WHERE member_id = %s",
            [settings["captureBankTexts"], self.member.pk],
        )
        for each in LISTS:
            for row in self.found[each.name]:
                self._write_row(each, row)
        for row in self.found["entries"]:
            self._write_refund(row)

    def real(self, name: str, value: Any) -> Any:
        """Return a value of the file with the ids of this ledger, if the row is."""
        if name not in TARGETS or value is None:
            return value
        if isinstance(value, list):
            return [self.real(name, each) for each in value]
        return self.ids.get((TARGETS[name], value), value)

    def _write_row(self, each: ExportList, row: dict[str, Any]) -> None:
        if each.name == "dismissedTransfers":
            self._write_pair(row)
            return
        values: dict[str, Any] = {"member_id": self.member.pk}
        for name, sql in each.fields.items():
            has_column = each.name == "mergedEntries" and name == "tagIds"
            if (name in LATER and not has_column) or name in GENERATED:
                continue
            (column,) = set(re.findall(r"\br\.(\w+)", sql))
            values[column] = self.real(name, row.get(name, get_default(name)))
        for column in ("bill_month", "month"):
            if isinstance(values.get(column), str):
                values[column] += "-01"
        values |= self._compute_others(each, row)
        table = re.findall(r"\b(?:account|invest)\w*", each.table)[0]
        returned = "RETURNING id" if each.has_id else ""
        new_id = self._insert(table, values, returned)
        if new_id is not None:
            self.ids[each.name, row["id"]] = new_id
        if each.name in PARTS:
            self._write_parts(each.name, new_id, row)

    def _compute_others(self, each: ExportList, row: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if "categoryType" in each.fields:
            is_own = row["categoryType"] == default_category_type(row["type"])
            values["is_reversal"] = not is_own
        if each.name == "entries":
            # While lines are written.
            values["line_count"] = None if row.get(LINES) else 0
        if each.name == "budgets":
            values["type"] = "expense"
        if each.name == "importKeys":
            values |= {"digest": bytes.fromhex(row["digest"]), "operation_id": 0}
            values["wallet_id"] = self.real("walletId", row.get("walletId")) or 0
        if each.name == "cards":
            values["terms"] = Jsonb(row.get("terms", []))
        if each.name == "layouts":
            digest = hashlib.sha256(row["template"].encode())
            values["template_digest"] = digest.hexdigest()
        return values

    def _write_parts(self, name: str, owner: Any, row: dict[str, Any]) -> None:
        lines, tags, column = PARTS[name]
        own = {"member_id": self.member.pk, column: owner}
        for position, tag in enumerate(row.get("tagIds", ())):
            tag_id = self.real("tagIds", tag)
            self._insert(tags, own | {"tag_id": tag_id, "position": position})
        for position, line in enumerate(row.get(LINES, ())):
            values = {
                "position": position,
                "amount": line["amount"],
                "category_id": self.real("categoryId", line.get("categoryId")),
                "category_type": line["categoryType"],
                "wallet_id": self.real("walletId", line.get("walletId")),
                "memo": line.get("memo", ""),
            }
            self._insert(lines, own | values)
        if name == "entries" and row.get(LINES):
            self._execute(
                "UPDATE account_entry SET line_count = %s"
                " WHERE member_id = %s AND id = %s",
                [len(row[LINES]), self.member.pk, owner],
            )

    def _write_refund(self, row: dict[str, Any]) -> None:
        new_id = self.ids["entries", row["id"]]
        key = [self.member.pk, new_id]
        if "refundOf" in row:
            self._execute(
                "UPDATE account_entry SET refund_of_id = %s"
                " WHERE member_id = %s AND id = %s",
                [self.real("refundOf", row["refundOf"]), *key],
            )
        for position, line in enumerate(row.get(LINES, ())):
            if line.get("refundOf") is not None:
                self._execute(
                    "UPDATE account_entry_line SET refund_of_id = %s"
                    " WHERE member_id = %s AND entry_id = %s AND position = %s",
                    [self.real("refundOf", line["refundOf"]), *key, position],
                )

    def _write_pair(self, row: dict[str, Any]) -> None:
        self._execute(
            """
            INSERT INTO account_dismissed_transfer (
                member_id, expense_id, income_id, expense_amount, expense_date,
                expense_wallet_id, income_amount, income_date, income_wallet_id
            )
            SELECT o.member_id, o.id, i.id, o.amount, o.date, o.wallet_id, i.amount,
                i.date, i.wallet_id
            FROM account_entry o, account_entry i
            WHERE o.member_id = %(member)s AND i.member_id = %(member)s
                AND o.id = %(out)s AND i.id = %(in)s
            """,
            {
                "member": self.member.pk,
                "out": self.real("outId", row["outId"]),
                "in": self.real("inId", row["inId"]),
            },
        )

    def _insert(self, table: str, values: dict[str, Any], returned: str = "") -> Any:
        columns, places = ", ".join(values), ", ".join(["%s"] * len(values))
        sql = f"INSERT INTO {table} ({columns}) VALUES ({places}) {returned}"
        return self._execute(sql, list(values.values()))

    def _execute(self, sql: str, params: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            return cursor.fetchone()[0] if cursor.description else None


def without_ids(found: dict[str, Any]) -> Any:
    """Return the lists of a file with places in their lists instead of ids."""
    places = {
        (each.name, row["id"]): place
        for each in LISTS
        if each.has_id
        for place, row in enumerate(found[each.name])
    }

    def place(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [place(name, each) for each in value]
        if isinstance(value, dict):
            return describe(value)
        if name in TARGETS and value is not None:
            return places.get((TARGETS[name], value), value)
        return value

    def describe(row: dict[str, Any]) -> dict[str, Any]:
        return {name: place(name, row[name]) for name in row if name != "id"}

    lists = {
        each.name: sorted(
            (describe(row) for row in found[each.name]),
            key=lambda row: json.dumps(row, sort_keys=True, default=str),
        )
        for each in LISTS
    }
    return lists | {"settings": found["settings"]}
