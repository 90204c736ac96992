"""Net worth: what the member's wallets and holdings are worth now."""

from dataclasses import dataclass

from django.db import connection

from accounts.models import Member
from ledger.investments.portfolio import get_holdings_value

_WALLET_BALANCES = """
    SELECT w.id, w.name, w.kind, w.archived,
        w.opening_balance + coalesce(t.balance, 0) AS balance,
        CASE WHEN w.manual_valuation THEN w.current_value END
    FROM account w LEFT JOIN account_wallet_total t ON t.wallet_id = w.id
    WHERE w.member_id = %s
    ORDER BY w.sort_order, w.id
"""


@dataclass(frozen=True, slots=True)
class WalletWorth:
    """One wallet; `value` is what counts: a typed-in valuation, else the balance."""

    id: int
    name: str
    kind: str
    archived: bool
    balance: int
    value: int


@dataclass(frozen=True, slots=True)
class NetWorth:
    """In whole home-currency units; `liabilities` is not negative."""

    assets: int
    liabilities: int
    investments: int
    wallets: list[WalletWorth]

    @property
    def total(self) -> int:
        return self.assets - self.liabilities


def compute_net_worth(member: Member) -> NetWorth:
    """Positive balances are assets, negative ones liabilities.

    Archived wallets count; a typed-in valuation counts instead of a balance
    (spec 3.12).
    """
    return sum_net_worth(list_wallet_worths(member), get_holdings_value(member))


def sum_net_worth(wallets: list[WalletWorth], investments: int) -> NetWorth:
    return NetWorth(
        assets=investments
        + sum(wallet.value for wallet in wallets if wallet.value > 0),
        liabilities=-sum(wallet.value for wallet in wallets if wallet.value < 0),
        investments=investments,
        wallets=wallets,
    )


def list_wallet_worths(member: Member) -> list[WalletWorth]:
    """The member's wallets in their order, with one statement over kept totals."""
    with connection.cursor() as cursor:
        cursor.execute(_WALLET_BALANCES, [member.pk])
        return [
            WalletWorth(
                wallet_id,
                name,
                kind,
                archived,
                balance,
                value=balance if typed is None else typed,
            )
            for wallet_id, name, kind, archived, balance, typed in cursor.fetchall()
        ]
