"""The current net worth."""

from dataclasses import dataclass
from typing import NamedTuple

from accounts.models import Member
from core.db.rows import fetch_all
from ledger.investments.portfolio import get_holdings_value
from ledger.wallets.valuations import moved_since_sql

WALLET_WORTHS = f"""
    SELECT w.id, w.name, w.kind, w.archived,
        w.opening_balance + coalesce(t.balance, 0) AS balance,
        CASE WHEN w.manual_valuation AND w.current_value IS NOT NULL
            THEN w.current_value + {moved_since_sql("w.id")}
            ELSE w.opening_balance + coalesce(t.balance, 0)
        END::bigint AS value,
        w.manual_valuation AND w.current_value IS NOT NULL AS is_typed
    FROM account w LEFT JOIN account_wallet_total t
        ON t.member_id = w.member_id AND t.wallet_id = w.id
    WHERE w.member_id = %(member)s
    ORDER BY w.sort_order, w.id
"""  # noqa: S608 - constants


class WalletWorth(NamedTuple):
    """A wallet; a manual valuation is its `value`, else its balance."""

    id: int
    name: str
    kind: str
    archived: bool
    balance: int
    value: int
    is_typed: bool


@dataclass(frozen=True, slots=True)
class NetWorth:
    """Totals in whole home-currency units; `liabilities` is not negative."""

    assets: int
    liabilities: int
    investments: int
    wallets: list[WalletWorth]

    @property
    def total(self) -> int:
        return self.assets - self.liabilities


def compute_net_worth(member: Member) -> NetWorth:
    """Add up all wallets, archived ones too, and the holdings (spec 3.12)."""
    wallets = fetch_all(WALLET_WORTHS, {"member": member.pk}, WalletWorth)
    investments = get_holdings_value(member)
    return NetWorth(
        assets=investments
        + sum(wallet.value for wallet in wallets if wallet.value > 0),
        liabilities=-sum(wallet.value for wallet in wallets if wallet.value < 0),
        investments=investments,
        wallets=wallets,
    )
