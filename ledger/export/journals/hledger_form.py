"""The form of hledger. Pure.

hledger reads tags and dates in comments: `date:`, `type:` and dates in square brackets
would change the journal or be errors. Colons and brackets of members' texts there are
written as wide ones, and so is the semicolon that would begin a comment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from ledger.export.journals.parts import Account, Assertion, Detail, Transaction

_IN_COMMENT = str.maketrans({":": "：", "[": "［", "]": "］"})


@dataclass(frozen=True, slots=True)
class HledgerForm:
    currency: str

    def format_head(self, comments: Sequence[str]) -> str:
        lines = [f"; {comment}" for comment in comments]
        # The point says that the currency is written without decimals.
        lines.append(f"\ncommodity 1000. {self.currency}")
        return "\n".join(lines) + "\n"

    def format_account(self, account: Account, first_day: date) -> str:
        details = [Detail("name", account.title), *account.details]
        lines = [f"\naccount {account.name}", *_format_details(details, "  ")]
        return "\n".join(lines) + "\n"

    def format_transaction(self, transaction: Transaction) -> str:
        text = " ".join(transaction.text.split()).replace(";", "；")
        # The code keeps a text in parentheses from being one.
        code = transaction.entry_id or ""
        lines = [f"\n{transaction.day.isoformat()} * ({code}) {text}".rstrip()]
        if transaction.details:
            lines += _format_details(transaction.details, "    ")
        for account, amount, details in transaction.postings:
            lines.append(f"    {account.name}  {amount} {self.currency}")
            if details:
                lines += _format_details(details, "      ")
        lines.append("")
        return "\n".join(lines)

    def format_assertions(self, day: date, assertions: Sequence[Assertion]) -> str:
        lines = [f"\n{day.isoformat()} * () Balances"]
        lines += [
            f"    {account.name}  0 {self.currency} =* {amount} {self.currency}"
            for account, amount in assertions
        ]
        return "\n".join(lines) + "\n"


def _format_details(details: Sequence[Detail], indent: str) -> list[str]:
    return [
        f"{indent}; {name}: {' '.join(value.split()).translate(_IN_COMMENT)}"
        for name, value in details
    ]
