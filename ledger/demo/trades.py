"""Stocks and trades. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from accounts.models import Member
from ledger.models import Stock, Trade

# Per mille of the value of a trade; only sales are taxed.
FEE_PER_MILLE = 1
TAX_PER_MILLE = 2
# Growth in 30 days: today's price determines earlier prices.
PRICE_GROWTH_PER_MILLE = 9
# Stocks with more trades are bought by a savings plan.
MAX_OCCASIONAL_TRADES = 6


@dataclass(frozen=True, slots=True)
class DemoStock:
    """A stock; a trade is days ago and quantity, negative for a sale."""

    code: str
    name: str
    market: str
    price: int
    trades: tuple[tuple[int, str], ...]


STOCKS = (
    DemoStock(
        "005930", "삼성전자", "KOSPI", 98_000,
        ((960, "40"), (700, "25"), (410, "-15"), (120, "10")),
    ),
    DemoStock(
        "069500", "KODEX 200", "KOSPI", 56_000,
        tuple((days, "3") for days in range(900, 0, -60)),
    ),
    DemoStock(
        "AAPL", "Apple", "NASDAQ", 395_000,
        ((640, "1.5"), (520, "0.75"), (330, "0.333333"), (200, "-0.5"), (35, "0.25")),
    ),
    DemoStock(
        "VOO", "Vanguard S&P 500 ETF", "NYSE", 890_000,
        tuple((days, "0.125") for days in range(720, 0, -30)),
    ),
    DemoStock("035720", "카카오", "KOSPI", 62_000, ((800, "30"), (280, "-30"))),
)  # fmt: skip


def generate_trades(demo: DemoStock, today: date) -> Iterator[Trade]:
    """Yield the unsaved trades of a stock, on weekdays, with fee and tax."""
    for days, quantity in demo.trades:
        change = Decimal(quantity)
        growth = PRICE_GROWTH_PER_MILLE * days // 30
        # Prices are quoted in tens.
        price = demo.price * 1000 // (1000 + growth) // 10 * 10
        value = int(abs(change) * price)
        is_sale = change < 0
        day = today - timedelta(days=days)
        day -= timedelta(days=max(0, day.weekday() - 4))
        yield Trade(
            side=Trade.Side.SELL if is_sale else Trade.Side.BUY,
            date=day,
            quantity=abs(change),
            price=price,
            fee=value * FEE_PER_MILLE // 1000,
            tax=value * TAX_PER_MILLE // 1000 if is_sale else 0,
            memo="적립식" if len(demo.trades) > MAX_OCCASIONAL_TRADES else "",
        )


def create_investments(member: Member, now: datetime, today: date) -> int:
    """Return the number of trades."""
    stocks = Stock.objects.bulk_create(
        Stock(
            member=member,
            code=demo.code,
            name=demo.name,
            market=demo.market,
            current_price=demo.price,
            price_at=now,
            sort_order=position,
        )
        for position, demo in enumerate(STOCKS, start=1)
    )
    trades = []
    for stock, demo in zip(stocks, STOCKS, strict=True):
        for trade in generate_trades(demo, today):
            trade.member, trade.stock = member, stock
            trades.append(trade)
    return len(Trade.objects.bulk_create(trades))
