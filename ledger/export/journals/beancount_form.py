"""The form of beancount, version 3. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ledger.export.journals.parts import Account, Assertion, Detail, Transaction

# Within a string, but for a backslash and a quote.
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"'})


@dataclass(frozen=True, slots=True)
class BeancountForm:
    currency: str

    def format_head(self, comments: Sequence[str]) -> str:
        lines = [f"; {comment}" for comment in comments]
        lines.append(f'option "operating_currency" "{self.currency}"')
        return "\n".join(lines) + "\n"

    def format_account(self, account: Account, first_day: date) -> str:
        lines = [f"\n{first_day.isoformat()} open {account.name} {self.currency}"]
        details = [Detail("name", account.title), *account.details]
        return "\n".join(lines + _format_details(details, "  ")) + "\n"

    def format_transaction(self, transaction: Transaction) -> str:
        lines = [f"\n{transaction.day.isoformat()} * {_quote(transaction.text)}"]
        if transaction.entry_id is not None:
            lines.append(f'  id: "{transaction.entry_id}"')
        if transaction.details:
            lines += _format_details(transaction.details, "  ")
        for account, amount, details in transaction.postings:
            lines.append(f"  {account.name}  {amount} {self.currency}")
            if details:
                lines += _format_details(details, "    ")
        lines.append("")
        return "\n".join(lines)

    def format_assertions(self, day: date, assertions: Sequence[Assertion]) -> str:
        if day == date.max:
            # Beancount asserts the balance at the beginning of a day.
            return ""
        next_day = (day + timedelta(1)).isoformat()
        lines = [
            f"{next_day} balance {account.name}  {amount} {self.currency}"
            for account, amount in assertions
        ]
        return "\n" + "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return f'"{" ".join(text.split()).translate(_ESCAPES)}"'


def _format_details(details: Sequence[Detail], indent: str) -> list[str]:
    return [f"{indent}{name}: {_quote(value)}" for name, value in details]
