"""Parts of a journal, before they are written in the form of a program. Pure.

Amounts are whole units of the home currency. Money of a balance sheet counts above 0
for what the member has; an income is below 0, an expense above.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, Protocol


class Detail(NamedTuple):
    """A field of the service beside an account, transaction or posting."""

    name: str
    value: str


class Account(NamedTuple):
    """An account by an ASCII name of ids, with the member's name for it."""

    name: str
    title: str
    details: Sequence[Detail] = ()


class Posting(NamedTuple):
    account: Account
    amount: int
    details: Sequence[Detail] = ()


@dataclass(frozen=True, slots=True)
class Transaction:
    """Postings of a day that add up to 0; `entry_id` is None if no entry made them."""

    day: date
    text: str
    postings: Sequence[Posting]
    entry_id: int | None = None
    details: Sequence[Detail] = ()


class Assertion(NamedTuple):
    """The balance of an account with the accounts below it."""

    account: Account
    amount: int


class JournalForm(Protocol):
    """The form of a program that reads journals."""

    def format_head(self, comments: Sequence[str]) -> str: ...

    def format_account(self, account: Account, first_day: date) -> str: ...

    def format_transaction(self, transaction: Transaction) -> str: ...

    def format_assertions(self, day: date, assertions: Sequence[Assertion]) -> str:
        """Return what asserts balances at the end of a day."""
        ...
