"""The portfolio and the check of a trade's edit, with 100,000 trades of 200 stocks."""

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
from benchmarks.sessions import PATH as TRIVIAL
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


def measure(stage: BenchmarkEnvironment, rounds: int) -> list[Row]:
    """Of three members: many stocks, a tenth of the trades, all trades of one stock."""
    many, few, one = stage.dataset_spec.all_members[:3]
    plans = (
        (many, TRADE_COUNT, STOCK_COUNT),
        (few, TRADE_COUNT // 10, STOCK_COUNT),
        (one, TRADE_COUNT, 1),
    )
    with psycopg.connect(stage.database.address) as connection:
        for member, trades, stocks in plans:
            add_trades(connection, member, trades, stocks)
    vacuum_and_checkpoint(stage.database.address)
    with psycopg.connect(stage.database.address, autocommit=True) as connection:
        rows = measure_portfolio(stage, connection, (many, few), rounds)
        return rows + measure_edits(stage, connection, one, rounds)


def measure_portfolio(
    stage: BenchmarkEnvironment,
    connection: psycopg.Connection,
    members: tuple[int, int],
    rounds: int,
) -> list[Row]:
    """First when all trades must be replayed, then when none changed."""
    many, few = members
    calls: dict[str, Callable[[], object]] = {
        "new": Client(stage.service_target(PATH, many)),
        "new few": Client(stage.service_target(PATH, few)),
        "again": Client(stage.service_target(PATH, many)),
        "networth": Client(stage.service_target(NETWORTH_PATH, many)),
        "trivial": Client(stage.service_target(TRIVIAL, many)),
        "loop": lambda: replay_in_plain_loop(connection, many),
    }

    def set_up(name: str) -> None:
        if name.startswith("new"):
            connection.execute(_INVALIDATE_SQL, [few if name == "new few" else many])
        elif name == "again":
            calls["again"]()

    times = time_interleaved(calls, rounds, REPEATS, set_up)
    new, again, trivial = times["new"], times["again"], times["trivial"]
    return [
        max_ratio_row(
            NAME,
            f"{TRADE_COUNT:,} trades, all replayed : T + read + integer loop",
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
            f"{TRADE_COUNT:,} trades, none changed : T",
            format_milliseconds(again.median),
            again.ratio_to(trivial),
        ),
        max_ratio_row(
            NAME,
            f"net worth with {STOCK_COUNT} stocks, {TRADE_COUNT:,} trades : T",
            format_milliseconds(times["networth"].median),
            times["networth"].ratio_to(trivial),
            2.0,
        ),
    ]


def measure_edits(
    stage: BenchmarkEnvironment,
    connection: psycopg.Connection,
    member: int,
    rounds: int,
) -> list[Row]:
    """PATCH of the first and of the last trade of one stock."""
    found = connection.execute(
        "SELECT min(id), max(id) FROM invest_trade WHERE member_id = %s", [member]
    ).fetchone()
    first, last = found or (0, 0)
    calls: dict[str, Callable[[], object]] = {
        "first": TradeEditor(stage.service_target(f"{TRADES_PATH}/{first}", member)),
        "last": TradeEditor(stage.service_target(f"{TRADES_PATH}/{last}", member)),
        "trivial": Client(stage.service_target(TRIVIAL, member)),
    }
    times = time_interleaved(calls, rounds, REPEATS)
    rows = []
    for name, which in (("first", "oldest"), ("last", "newest")):
        time = times[name]
        text = f"edit of the {which} of {TRADE_COUNT:,} trades of one stock, in 200 ms"
        level = format_milliseconds(time.median)
        rows.append(max_ratio_row(NAME, text, level, time.median / 0.2, 1.0))
    return rows


class TradeEditor:
    """Changes a trade's quantity to and fro; anything but 200 ends the run."""

    def __init__(self, target: Target) -> None:
        self.target, self.more = target, False
        self.connection = http.client.HTTPConnection(LOOPBACK, target.port, timeout=60)

    def __call__(self) -> None:
        self.more = not self.more
        body = json.dumps({"quantity": 20 + self.more})
        headers = {**self.target.headers, "Content-Type": "application/json"}
        self.connection.request("PATCH", self.target.path, body, headers)
        response = self.connection.getresponse()
        answer = response.read()
        if response.status != http.client.OK:
            raise AssertionError(f"{response.status} {answer[:300]!r}")


def add_trades(
    connection: psycopg.Connection, member: int, trades: int, stocks: int
) -> None:
    """Four buys, then a sell, of each stock; all prices known and young."""
    first = member * 1_000
    copy_rows(
        connection,
        "invest_stock (id, member_id, code, name, market, sort_order)",
        (
            (first + n, member, f"B{first + n}", f"Stock {n}", "", n)
            for n in range(stocks)
        ),
    )
    copy_rows(
        connection,
        "stock_quote"
        " (code, home_price, quoted_at, fetched_at, next_refresh_at, is_claimed)",
        (
            (f"B{first + n}", 70_000 + n, "now", "tomorrow", "tomorrow", "false")
            for n in range(stocks)
        ),
    )
    copy_rows(
        connection,
        "invest_trade (member_id, stock_id, side, date, quantity, price, fee, tax,"
        " memo)",
        list_trades(member, first, trades, stocks),
    )


def list_trades(member: int, first: int, trades: int, stocks: int) -> Iterator[CopyRow]:
    for number in range(trades):
        turn, stock = divmod(number, stocks)
        is_sell = turn % 5 == 4
        yield (
            *(member, first + stock, "SELL" if is_sell else "BUY"),
            FIRST_DAY + timedelta(number * DAYS // trades),
            "10.333333" if is_sell else "20.5",
            50_000 + number * 7_919 % 20_000,
            *(150, 230 if is_sell else 0, ""),
        )


def replay_in_plain_loop(connection: psycopg.Connection, member: int) -> int:
    """The bound: the same rows and the plain loop, without anything around them."""
    realized = 0
    rows = connection.execute(_TRADES_SQL, [member]).fetchall()
    for _, lines in groupby(rows, key=lambda row: row[0]):
        held = cost = 0
        for _, _, is_sell, quantity, price, fee, tax in lines:
            if not is_sell:
                held += quantity
                cost += quantity * price + fee * 1_000_000
                continue
            released = cost * quantity // held
            held -= quantity
            cost -= released
            realized += quantity * price - (fee + tax) * 1_000_000 - released
    return realized
