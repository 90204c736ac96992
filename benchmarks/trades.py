"""The portfolio and edits of trades, with 100,000 trades of 200 stocks."""

import itertools
from collections.abc import Callable
from itertools import groupby

import psycopg

from benchmarks.client import Client
from benchmarks.dataset import vacuum_and_checkpoint
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, bounded, compare, format_milliseconds

NAME = "trades"
PORTFOLIO, NET_WORTH, TRADES = (
    f"/api/account/{name}" for name in ("portfolio", "networth", "trades")
)
TRADE_COUNT, STOCK_COUNT = 100_000, 200
MIN_TRADES = 2_000
REPEATS = 5
# After four buys of a stock comes a sell. Triggers would update a position for each.
ADD_TRADES = """
    INSERT INTO invest_stock (id, member_id, code, name, market, sort_order)
    SELECT %(first)s + n, %(member)s, 'B' || %(first)s + n, 'Stock ' || n, '', n
    FROM generate_series(0, %(stocks)s - 1) n;
    INSERT INTO stock_quote (code, home_price, quoted_at, fetched_at, next_refresh_at,
        is_claimed)
    SELECT 'B' || %(first)s + n, 70000 + n, now(), 'tomorrow', 'tomorrow', false
    FROM generate_series(0, %(stocks)s - 1) n;
    INSERT INTO invest_trade (member_id, stock_id, side, date, quantity, price, fee,
        tax, memo)
    SELECT %(member)s, %(first)s + n %% %(stocks)s,
        CASE WHEN is_sell THEN 'SELL' ELSE 'BUY' END,
        DATE '2016-01-04' + (n::bigint * 3900 / %(trades)s)::int,
        CASE WHEN is_sell THEN 10.333333 ELSE 20.5 END,
        50000 + n::bigint * 7919 %% 20000, 150,
        CASE WHEN is_sell THEN 230 ELSE 0 END, ''
    FROM generate_series(0, %(trades)s - 1) n,
        LATERAL (SELECT n / %(stocks)s %% 5 = 4 AS is_sell) sides;
    INSERT INTO invest_position (member_id, stock_id, quantity, trade_count, version)
    SELECT member_id, stock_id,
        sum(CASE side WHEN 'BUY' THEN quantity ELSE -quantity END), count(*), count(*)
    FROM invest_trade WHERE member_id = %(member)s GROUP BY member_id, stock_id;
"""
LIST_TRADES = """
    SELECT stock_id, date, side = 'SELL', (quantity * 1000000)::bigint, price, fee, tax
    FROM invest_trade WHERE member_id = %s ORDER BY stock_id, date, side, id
"""
INVALIDATE = "UPDATE invest_position SET replayed_version = NULL WHERE member_id = %s"


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    many, few, one = environment.spec.all_members[:3]
    count = max(MIN_TRADES, int(TRADE_COUNT * environment.spec.scale))
    with psycopg.connect(environment.database_url) as connection:
        connection.execute("SET LOCAL session_replication_role = replica")
        for member, trades, stocks in (
            (many, count, STOCK_COUNT),
            (few, count // 10, STOCK_COUNT),
            (one, count, 1),
        ):
            values = {"member": member, "first": member * 1_000}
            values |= {"trades": trades, "stocks": stocks}
            psycopg.ClientCursor(connection).execute(ADD_TRADES, values)
    vacuum_and_checkpoint(environment.database_url)
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        return [
            *measure_portfolio(environment, connection, many, few, count),
            *measure_edits(environment, connection, one, count),
        ]


def measure_portfolio(
    environment: BenchmarkEnvironment,
    connection: psycopg.Connection,
    many: int,
    few: int,
    count: int,
) -> list[Row]:
    calls: dict[str, Callable[[], object]] = {
        "new": Client(environment.service_target(PORTFOLIO, many)),
        "new few": Client(environment.service_target(PORTFOLIO, few)),
        "again": Client(environment.service_target(PORTFOLIO, many)),
        "net worth": Client(environment.service_target(NET_WORTH, many)),
        "T": environment.trivial_client(many),
        "loop": lambda: replay_in_plain_loop(connection, many),
    }

    def set_up(name: str) -> None:
        if name.startswith("new"):
            connection.execute(INVALIDATE, [few if name == "new few" else many])
        elif name == "again":
            calls["again"]()

    text = f"{count:,} trades"
    rows = [
        (f"{text}, all replayed : T + read + loop", "new", ["T", "loop"], 1.5),
        (f"growth, {text} : a tenth", "new", ["new few"], 12),
        (f"{text}, none changed : T", "again", ["T"], None),
        (f"net worth, {text} : T", "net worth", ["T"], 1.8),
    ]
    return compare(NAME, environment.time(calls, REPEATS, set_up), rows)


def measure_edits(
    environment: BenchmarkEnvironment,
    connection: psycopg.Connection,
    member: int,
    count: int,
) -> list[Row]:
    def edit(trade: int) -> Callable[[], object]:
        """Set one of two quantities in turn."""
        target = environment.service_target(f"{TRADES}/{trade}", member)
        client = Client(target)
        bodies = itertools.cycle(
            target.sending({"quantity": quantity}, "PATCH") for quantity in (20, 21)
        )
        return lambda: client.send(next(bodies))

    ids = "SELECT min(id), max(id) FROM invest_trade WHERE member_id = %s"
    oldest, newest = connection.execute(ids, [member]).fetchone() or (0, 0)
    calls = {"oldest": edit(oldest), "newest": edit(newest)}
    return [
        bounded(
            NAME,
            f"edit of the {age} of {count:,} trades of one stock, seconds",
            format_milliseconds(timing.median),
            timing.median,
            0.2,
        )
        for age, timing in environment.time(calls, REPEATS).items()
    ]


def replay_in_plain_loop(connection: psycopg.Connection, member: int) -> int:
    """Compute realized gains from the same rows: the lower bound of the replay."""
    realized = 0
    rows = connection.execute(LIST_TRADES, [member]).fetchall()
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
