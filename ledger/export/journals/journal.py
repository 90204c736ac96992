"""A ledger as a journal, which its program checks (spec 3.28).

The balances at the end are those that the service shows: beancount and hledger compare
them with the transactions before.
"""

from collections.abc import Iterator
from datetime import date
from typing import IO

from django.conf import settings

from ledger.export.journals.accounts import HOLDINGS, Chart
from ledger.export.journals.beancount_form import BeancountForm
from ledger.export.journals.books import Books
from ledger.export.journals.hledger_form import HledgerForm
from ledger.export.journals.parts import (
    Account,
    Assertion,
    JournalForm,
    Transaction,
)
from ledger.export.journals.reading import (
    get_days,
    get_worths,
    iterate_entries,
    list_categories,
    list_valuations,
    list_wallets,
)
from ledger.export.scope import Export
from ledger.investments.portfolio import get_holdings_value

# Text that is collected before it goes into the file.
CHUNK_LENGTH = 2**16


def write_beancount(export: Export, file: IO[bytes]) -> None:
    _write_journal(export, file, BeancountForm(settings.HOME_CURRENCY))


def write_hledger(export: Export, file: IO[bytes]) -> None:
    _write_journal(export, file, HledgerForm(settings.HOME_CURRENCY))


def _write_journal(export: Export, file: IO[bytes], form: JournalForm) -> None:
    parts: list[str] = []
    length = 0
    for text in _iterate_texts(export, form):
        parts.append(text)
        length += len(text)
        if length >= CHUNK_LENGTH:
            file.write("".join(parts).encode())
            parts, length = [], 0
    file.write("".join(parts).encode())


def _iterate_texts(export: Export, form: JournalForm) -> Iterator[str]:
    wallets, scope = list_wallets(export), export.scope
    chart = Chart(wallets, list_categories(export))
    first_day, last_day = get_days(export)
    books = Books(
        chart,
        wallets,
        list_valuations(export),
        first_day=first_day,
        wallet_id=scope.wallet_id,
    )
    writer = _AccountWriter(form, first_day)
    yield form.format_head(_list_comments(export, first_day, last_day))
    for entry in iterate_entries(export):
        for transaction in books.post(entry):
            yield writer.write(transaction)
    # Prices are those of now.
    holdings = 0
    if scope.is_whole:
        holdings = get_holdings_value(export.member, keeps_replays=False)
    for transaction in books.close(last_day, holdings):
        yield writer.write(transaction)
    # What later entries and values add is in no worth of an earlier day.
    assertions = books.list_assertions({} if scope.end else get_worths(export))
    if holdings:
        assertions.append(Assertion(HOLDINGS, holdings))
    if assertions:
        accounts = [assertion.account for assertion in assertions]
        yield writer.open(*accounts)
        yield form.format_assertions(last_day, assertions)


class _AccountWriter:
    """Writes transactions, each after the accounts that it is the first to use."""

    def __init__(self, form: JournalForm, first_day: date) -> None:
        self._form = form
        self._first_day = first_day
        self._known: set[str] = set()

    def write(self, transaction: Transaction) -> str:
        accounts = [posting.account for posting in transaction.postings]
        return self.open(*accounts) + self._form.format_transaction(transaction)

    def open(self, *accounts: Account) -> str:
        new = {each.name: each for each in accounts if each.name not in self._known}
        self._known |= new.keys()
        texts = (
            self._form.format_account(each, self._first_day) for each in new.values()
        )
        return "".join(texts)


def _list_comments(export: Export, first_day: date, last_day: date) -> list[str]:
    made_at = export.made_at.isoformat(timespec="seconds")
    comments = [
        f"Household Ledger {settings.VERSION}, exported at {made_at}",
        f"{first_day} to {last_day}, in whole {settings.HOME_CURRENCY}",
        "Wallets (W) and categories (C) are named by their ids.",
        "Pending entries are left out.",
    ]
    if export.scope.wallet_id is not None:
        comments.append(f"Entries of the wallet W{export.scope.wallet_id} alone.")
    return comments
