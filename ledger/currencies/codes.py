"""Exact arithmetic with exchange rates."""

from decimal import ROUND_HALF_UP, Context, Decimal

from card_alerts.currencies import CURRENCY_CODES as CURRENCY_CODES

RATE_QUANTUM = Decimal("0.00000001")
MAX_RATE = Decimal(10) ** 12
# Only the last step rounds.
EXACT = Context(prec=60)


def compute_rate(amount: Decimal | int, original_amount: Decimal) -> Decimal:
    """Return the quotient with 8 decimals, rounded half up."""
    rate = EXACT.divide(Decimal(amount), original_amount)
    return rate.quantize(RATE_QUANTUM, ROUND_HALF_UP, EXACT)


def apply_rate(original_amount: Decimal, rate: Decimal) -> int:
    """Return the product in whole units, rounded half up."""
    product = EXACT.multiply(original_amount, rate)
    return int(product.quantize(Decimal(1), ROUND_HALF_UP, EXACT))
