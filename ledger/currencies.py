"""Currency codes (ISO 4217) and exact arithmetic with exchange rates."""

from decimal import ROUND_HALF_UP, Context, Decimal

# Without funds, metals and test codes.
CURRENCY_CODES = frozenset(
    """
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD
    BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN
    ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD
    IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD
    MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD
    OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
    SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD
    UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
    """.split()  # noqa: SIM905  # a table, not a column
)

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
