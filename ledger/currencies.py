"""Currency codes and exact arithmetic with exchange rates."""

from decimal import ROUND_HALF_UP, Context, Decimal

# The parser of card alerts has the table; entries take the same codes.
from card_alerts.currencies import CURRENCY_CODES as CURRENCY_CODES

# Rates are stored as numeric(20, 8): 12 digits before the point and 8 behind it.
RATE_QUANTUM = Decimal("0.00000001")
MAX_RATE = Decimal(10) ** 12
# More digits than any product or quotient here needs, so that only the last step
# rounds.
EXACT = Context(prec=60)


def compute_rate(amount: Decimal | int, original_amount: Decimal) -> Decimal:
    """Return `amount` / `original_amount` with 8 decimals, rounded half up."""
    rate = EXACT.divide(Decimal(amount), original_amount)
    return rate.quantize(RATE_QUANTUM, ROUND_HALF_UP, EXACT)


def apply_rate(original_amount: Decimal, rate: Decimal) -> int:
    """Return `original_amount` × `rate` in whole units, rounded half up."""
    product = EXACT.multiply(original_amount, rate)
    return int(product.quantize(Decimal(1), ROUND_HALF_UP, EXACT))
