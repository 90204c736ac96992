"""The portfolio and edits of trades, with 100,000 trades of 200 stocks."""

import http.client
import json
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import groupby

import psycopg

from benchmarks.client import Client, Target, time_interleaved
from benchmarks.dataset import CopyRow, copy_rows, vacuum_and_checkpoint
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, format_milliseconds, max_ratio_row
from devstack.stores.data_dir import LOOPBACK

NAME = "portfolio"
PATH, NETWORTH_PATH, TRADES_PATH = (
    f"/api/account/{name}" for name in ("portfolio", "networth", "trades")
)
TRADE_COUNT = 100_000
STOCK_COUNT = 200
REPEATS = 5
FIRST_DAY, DAYS = date(2016, 1, 4), 3_900

_TRADES_SQL = """
    SELECT stock_id, date, side = 'SELL', (quantity * 1000000)::bigint, price, fee, tax
    FROM invest_trade WHERE member_id = %s ORDER BY stock_id, date, side, id
"""
_INVALIDATE_SQL = (
    "UPDATE invest_position SET replayed_version = NULL WHERE member_id = %s"
)


def measure(environment: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Measure three members: all trades, a tenth of them, all of them of one stock."""
    many, few, one = environment.spec.all_members[:3]
    plans = (
        (many, TRADE_COUNT, STOCK_COUNT),
        (few, TRADE_COUNT // 10, STOCK_COUNT),
        (one, TRADE_COUNT, 1),
    )
    with psycopg.connect(environment.database.url) as connection:
        for member, trades, stocks in plans:
            add_trades(connection, member, trades, stocks)
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        # The old versions of the positions, one of each trade: no service leaves them,
        # as its trades come in transactions of their own.
        connection.execute("VACUUM FULL invest_position")
    vacuum_and_checkpoint(environment.database.url)
    with psycopg.connect(environment.database.url, autocommit=True) as connection:
        rows = measure_portfolio(environment, connection, (many, few), rounds)
        return rows + measure_edits(environment, connection, one, rounds)


def measure_portfolio(
    environment: BenchmarkEnvironment,
    connection: psycopg.Connection,
    members: tuple[int, int],
    rounds: int,
) -> list[Row]:
    """Measure the portfolio with all trades to be replayed, then with none changed."""
    many, few = members
    calls: dict[str, Callable[[], object]] = {
        "new": Client(environment.service_target(PATH, many)),
        "new few": Client(environment.service_target(PATH, few)),
        "again": Client(environment.service_target(PATH, many)),
        "networth": Client(environment.service_target(NETWORTH_PATH, many)),
        "trivial": Client(environment.trivial_target(many)),
        "loop": lambda: replay_in_plain_loop(connection, many),
    }

    def set_up(name: str) -> None:
        if name.startswith("new"):
            connection.execute(_INVALIDATE_SQL, [few if name == "new few" else many])
        elif name == "again":
            calls["again"]()

    times = time_interleaved(calls, rounds, REPEATS, set_up)
    new, again, trivial = times["new"], times["again"], times["trivial"]
    t = environment.trivial_name
    return [
        max_ratio_row(
            NAME,
            f"{TRADE_COUNT:,} trades, all replayed : {t} + read + integer loop",
            format_milliseconds(new.median),
            new.ratio_to(trivial, times["loop"]),
            1.5,
        ),
        max_ratio_row(
            NAME,
            f"growth, {TRADE_COUNT:,} : {TRADE_COUNT // 10:,} trades",
            format_milliseconds(times["new few"].median),
            new.ratio_to(times["new few"]),
            12,
        ),
        Row(
            NAME,
            f"{TRADE_COUNT:,} trades, none changed : {t}",
            format_milliseconds(again.median),
            again.ratio_to(trivial),
        ),
        max_ratio_row(
            NAME,
            f"net worth with {STOCK_COUNT} stocks, {TRADE_COUNT:,} trades : {t}",
            format_milliseconds(times["networth"].median),
            times["networth"].ratio_to(trivial),
            1.8,
        ),
    ]


def measure_edits(
    environment: BenchmarkEnvironment,
    connection: psycopg.Connection,
    member: int,
    rounds: int,
) -> list[Row]:
    """Measure PATCH of the first and of the last trade of one stock."""
    row = connection.execute(
        "SELECT min(id), max(id) FROM invest_trade WHERE member_id = %s", [member]
    ).fetchone()
    first, last = row or (0, 0)
    calls: dict[str, Callable[[], object]] = {
        "first": TradeEditor(
            environment.service_target(f"{TRADES_PATH}/{first}", member)
        ),
        "last": TradeEditor(
            environment.service_target(f"{TRADES_PATH}/{last}", member)
        ),
        "trivial": Client(environment.trivial_target(member)),
    }
    times = time_interleaved(calls, rounds, REPEATS)
    rows = []
    for name, age in (("first", "oldest"), ("last", "newest")):
        timing = times[name]
        text = f"edit of the {age} of {TRADE_COUNT:,} trades of one stock, in 200 ms"
        level = format_milliseconds(timing.median)
        rows.append(max_ratio_row(NAME, text, level, timing.median / 0.2, 1.0))
    return rows


class TradeEditor:
    """Callable that alternates the quantity of a trade; raises unless 200."""

    def __init__(self, target: Target) -> None:
        self.target, self.is_raised = target, False
        self.connection = http.client.HTTPConnection(LOOPBACK, target.port, timeout=60)

    def __call__(self) -> None:
        self.is_raised = not self.is_raised
        body = json.dumps({"quantity": 20 + self.is_raised})
        headers = {**self.target.headers, "Content-Type": "application/json"}
        self.connection.request("PATCH", self.target.path, body, headers)
        response = self.connection.getresponse()
        response_body = response.read()
        if response.status != http.client.OK:
            raise AssertionError(f"{response.status} {response_body[:300]!r}")


def add_trades(
    connection: psycopg.Connection, member: int, trades: int, stocks: int
) -> None:
    """Load stocks with fresh quotes; after four buys of a stock comes a sell."""
    first_stock = member * 1_000
    copy_rows(
        connection,
        "invest_stock (id, member_id, code, name, market, sort_order)",
        (
            (first_stock + n, member, f"B{first_stock + n}", f"Stock {n}", "", n)
            for n in range(stocks)
        ),
    )
    copy_rows(
        connection,
        "stock_quote"
        " (code, home_price, quoted_at, fetched_at, next_refresh_at, is_claimed)",
        (
            (f"B{first_stock + n}", 70_000 + n, "now", "tomorrow", "tomorrow", "false")
            for n in range(stocks)
        ),
    )
    copy_rows(
        connection,
        "invest_trade (member_id, stock_id, side, date, quantity, price, fee, tax,"
        " memo)",
        list_trades(member, first_stock, trades, stocks),
    )


def list_trades(
    member: int, first_stock: int, trades: int, stocks: int
) -> Iterator[CopyRow]:
    for number in range(trades):
        trade_index, stock = divmod(number, stocks)
        is_sell = trade_index % 5 == 4
        yield (
            *(member, first_stock + stock, "SELL" if is_sell else "BUY"),
            FIRST_DAY + timedelta(number * DAYS // trades),
            "10.333333" if is_sell else "20.5",
            50_000 + number * 7_919 % 20_000,
            *(150, 230 if is_sell else 0, ""),
        )


def replay_in_plain_loop(connection: psycopg.Connection, member: int) -> int:
    """Compute realized gains from the same rows, with nothing but integer arithmetic.

    This is the lower bound for the replay in the service, so rows stay plain tuples.
    """
    realized = 0
    rows = connection.execute(_TRADES_SQL, [member]).fetchall()
    for _, trades in groupby(rows, key=lambda row: row[0]):
        quantity_held = cost = 0
        for _, _, is_sell, quantity, price, fee, tax in trades:
            if not is_sell:
                quantity_held += quantity
                cost += quantity * price + fee * 1_000_000
                continue
            released_cost = cost * quantity // quantity_held
            quantity_held -= quantity
            cost -= released_cost
            realized += quantity * price - (fee + tax) * 1_000_000 - released_cost
    return realized
