"""Net worth: what the member's wallets and holdings are worth now."""

from dataclasses import dataclass

from accounts.models import Member
from ledger.models import Wallet
from ledger.wallets import list_wallets, value_of


@dataclass(frozen=True, slots=True)
class NetWorth:
    """In whole home-currency units; `liabilities` is not negative."""

    assets: int
    liabilities: int
    investments: int
    wallets: list[Wallet]

    @property
    def total(self) -> int:
        return self.assets - self.liabilities


def compute_net_worth(member: Member) -> NetWorth:
    """Positive balances are assets, negative ones liabilities.

    Archived wallets count; a typed-in valuation counts instead of a balance
    (contract, section 9, Ledger).
    """
    wallets = list(list_wallets(member))
    values = [value_of(wallet) for wallet in wallets]
    return NetWorth(
        assets=sum(value for value in values if value > 0),
        liabilities=-sum(value for value in values if value < 0),
        investments=0,
        wallets=wallets,
    )
