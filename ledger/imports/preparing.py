"""Rows that are ready to be judged: checked, with wallets, keys and choices. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from core.api.fields import MAX_AMOUNT
from ledger.imports.choices import (
    Choices,
    GuessedWallet,
    OwnWallet,
    guess_wallets,
    resolve_wallet,
)
from ledger.imports.judging import JudgedRow
from ledger.imports.keys import number_rows
from ledger.imports.records import BadRow, Record, RecordKind, RowError
from ledger.models.imports import ImportAction
from ledger.models.lines import MAX_LINES


@dataclass(frozen=True, slots=True)
class RowChoice:
    """What the member has chosen for a row; `edits` are the fields of its entry."""

    action: ImportAction | None = None
    edits: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class PreparedRows:
    rows: list[JudgedRow]
    bad: list[BadRow]
    wallets: list[GuessedWallet]


def prepare_rows(
    records: Sequence[Record | BadRow],
    choices: Choices,
    own_wallets: Sequence[OwnWallet],
    row_choices: Mapping[int, RowChoice],
) -> PreparedRows:
    """Check the records, and find the wallets that they name."""
    good: list[Record] = []
    bad: list[BadRow] = []
    for each in records:
        if isinstance(each, BadRow):
            bad.append(each)
        elif errors := tuple(check_record(each)):
            bad.append(BadRow(each.row, errors))
        else:
            good.append(each)
    wallets = guess_wallets(good, choices, own_wallets)
    guessed = {each.name: each for each in wallets}
    placed = [(each, resolve_wallet(each.wallet, guessed)) for each in good]
    rows = []
    for (record, wallet), digests in zip(placed, number_rows(placed), strict=True):
        choice = row_choices.get(record.row, RowChoice())
        row = JudgedRow(record, wallet, None, digests, chosen=choice.action)
        row.target = choice.edits.get("id")
        if record.other_wallet is not None:
            row.other = resolve_wallet(record.other_wallet, guessed)
        if (edited := choice.edits.get("toWalletId")) is not None:
            row.other = edited
        if row.other == row.wallet:
            row.other = None
        rows.append(row)
    return PreparedRows(rows, bad, wallets)


def check_record(record: Record) -> Iterable[RowError]:
    """Yield what keeps the record from being an entry."""
    is_foreign = record.currency is not None and record.original_amount is not None
    if record.amount is None and not is_foreign:
        yield RowError("amount", gettext("The amount is missing."))
    if record.amount is not None and not 1 <= record.amount <= MAX_AMOUNT:
        detail = gettext("The amount must be between 1 and {maximum}.")
        yield RowError("amount", detail.format(maximum=MAX_AMOUNT))
    if record.kind is RecordKind.TRANSFER and record.amount is None:
        yield RowError(
            "amount", gettext("A transfer needs its amount in the home currency.")
        )
    if not record.lines:
        return
    if sum(line.amount for line in record.lines) != record.amount:
        yield RowError("amount", gettext("The parts do not add up to the amount."))
    if len(record.lines) > MAX_LINES or not all(
        0 < abs(line.amount) <= MAX_AMOUNT for line in record.lines
    ):
        yield RowError("amount", gettext("The parts are too many, or one is zero."))
