"""Effects of entries on balances and flows (spec 3.4), in SQL.

A flat entry is its only line. A line adds to the flow of its category's type, or
subtracts if the entry goes the other way. A line for another wallet changes that wallet
the other way. The triggers and `tests/support/effects.py` have the same definition.
"""

from decimal import ROUND_HALF_UP, Decimal

RATIO_QUANTUM = Decimal("0.0001")
# SQL for rows with `type`, `category_type` and `amount`.
DIRECTION_SQL = "CASE type WHEN 'income' THEN 1 ELSE -1 END"
FLOW_SQL = (
    "CASE WHEN (type = 'income') = (category_type = 'income')"
    " THEN amount ELSE -amount END"
)
BALANCE_CHANGE_SQL = f"({DIRECTION_SQL}) * amount"
LINES_SQL = """
    SELECT e.member_id, e.id, e.date, e.type, e.pending, e.excluded, e.wallet_id,
        e.amount AS entry_amount, l.amount, l.category_id, l.category_type,
        l.wallet_id AS other_wallet_id
    FROM (SELECT * FROM account_entry WHERE {scope} AND line_count > 0) e
    JOIN account_entry_line l ON l.member_id = e.member_id AND l.entry_id = e.id
    WHERE l.member_id = %(member)s
"""


def ratio(part: int, whole: int) -> Decimal | None:
    """Return the quotient with 4 decimals; None if `whole` is 0."""
    if not whole:
        return None
    return (Decimal(part) / Decimal(whole)).quantize(RATIO_QUANTUM, ROUND_HALF_UP)
