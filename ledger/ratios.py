"""Fractions in answers: a part of a whole."""

from decimal import ROUND_HALF_UP, Decimal

RATIO_QUANTUM = Decimal("0.0001")


def compute_ratio(part: int, whole: int) -> Decimal | None:
    """part / whole with 4 decimals, such as 0.25; None where the whole is 0."""
    if not whole:
        return None
    return (Decimal(part) / Decimal(whole)).quantize(RATIO_QUANTUM, ROUND_HALF_UP)
