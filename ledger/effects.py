"""What entries do to balances and flows: the only definition (spec 3.4).

An entry is one movement of one wallet, in one direction, and says what it was for. What
is booked on a category of the type of its direction adds to the flow of that type; what
is booked on one of the other type takes from it. So a refund, which is money in, takes
from the expense.

Triggers and statements have the same as SQL; a test compares both.
"""

from ledger.models.base import CategoryType, EntryType


def direction(entry_type: str) -> int:
    """Return 1 for money into the wallet of an entry, -1 for money out of it."""
    return 1 if entry_type == EntryType.INCOME else -1


def flow(entry_type: str, category_type: str, amount: int) -> int:
    """Return what an amount of an entry adds to the flow of the category's type."""
    is_same = (entry_type == EntryType.INCOME) == (category_type == CategoryType.INCOME)
    return amount if is_same else -amount


def balance_change(entry_type: str, amount: int) -> int:
    """Return what an entry adds to the balance of its wallet."""
    return direction(entry_type) * amount


# The same as SQL, of rows with the columns `type`, `category_type` and `amount`.
DIRECTION_SQL = "CASE type WHEN 'income' THEN 1 ELSE -1 END"
FLOW_SQL = (
    "CASE WHEN (type = 'income') = (category_type = 'income')"
    " THEN amount ELSE -amount END"
)
BALANCE_CHANGE_SQL = f"({DIRECTION_SQL}) * amount"
