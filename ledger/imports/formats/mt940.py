"""MT940 of SWIFT, by the library mt-940, one statement after the other."""

import re
from collections.abc import Iterator
from typing import Any

from mt940.models import Transactions

from ledger.imports.formats.cells import InvalidFileError, RawTable, Row
from ledger.imports.formats.statement_columns import BALANCE_COLUMNS, MT940_COLUMNS

# The blocks around a message: {1:...}{2:...}{4: and -}.
_BLOCKS = re.compile(r"^\{.*$|^-\}?\s*$|\{[1235]:[^}]*\}|\{4:", re.MULTILINE)
_STATEMENT = re.compile(r"^:20:", re.MULTILINE)
_NO_REFERENCES = frozenset({"", "NONREF", "NOTPROVIDED"})


def read_mt940(text: str) -> Iterator[RawTable]:
    plain = _BLOCKS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    starts = [match.start() for match in _STATEMENT.finditer(plain)]
    rows: list[Row] = [MT940_COLUMNS]
    balances: list[Row] = [BALANCE_COLUMNS]
    for start, end in zip(starts, [*starts[1:], len(plain)], strict=True):
        statement = Transactions()
        try:
            transactions = statement.parse(plain[start:end])
            account = str(statement.data.get("account_identification") or "").strip()
            currency = statement.currency or ""
            # The library keeps an empty one where a statement has none.
            filled = (each.data for each in transactions if each.data.get("amount"))
            rows += [_make_row(account, currency, data) for data in filled]
            balances += _list_balances(account, currency, statement.data)
        # The library raises RuntimeError for tags and others for their parts.
        except (RuntimeError, ValueError, TypeError, KeyError, ArithmeticError):
            raise InvalidFileError("damaged") from None
    yield RawTable("mt940", "transactions", rows)
    yield RawTable("mt940", "balances", balances)


def _make_row(account: str, currency: str, data: dict[str, Any]) -> list[str]:
    texts = [
        str(data.get(name) or "")
        for name in ("purpose", "transaction_details", "extra_details")
    ]
    reference = str(data.get("bank_reference") or "").strip()
    return [
        account,
        currency,
        (data.get("entry_date") or data["date"]).isoformat(),
        format(data["amount"].amount, "f"),
        str(data.get("id") or ""),
        str(data.get("applicant_name") or ""),
        next((text for text in texts if text.strip()), ""),
        "" if reference in _NO_REFERENCES else reference,
        "true" if str(data.get("status") or "").startswith("R") else "",
    ]


def _list_balances(
    account: str, currency: str, data: dict[str, Any]
) -> Iterator[list[str]]:
    balance = data.get("final_closing_balance")
    if balance is not None and balance.amount is not None and balance.date is not None:
        amount = format(balance.amount.amount, "f")
        yield [account, "", currency, amount, balance.date.isoformat()]
