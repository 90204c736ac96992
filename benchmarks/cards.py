"""Bills of cards, statistics with spread parts, and the job that pays.

The five wallets of the large member are cards, two of them on the bill of the first,
with a plan in parts among every 500 expenses.
"""

from collections.abc import Callable

import psycopg

from benchmarks.client import Client
from benchmarks.dataset import DatasetSpec
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, compare

NAME = "cards"
WALLETS = "/api/account/wallets"
STATISTICS = {
    "month": "/api/account/statistics/month?year=2026&month=9",
    "year": "/api/account/statistics/year?year=2026",
    "12 months": "/api/account/statistics/range"
    "?from=2025-10-01&to=2026-09-30&groupBy=month",
    "budgets": "/api/account/budgets/status?year=2026&month=9",
}
FIRST, LAST = "2024-11", "2026-10"
REPEATS = 20
CARDS = 10_000
MAKE_CARDS = """
    UPDATE account SET kind = 'CARD' WHERE member_id = %(member)s;
    UPDATE account_entry SET installment_months = 2 + (id %% 23)::int
    WHERE member_id = %(member)s AND type = 'expense' AND NOT pending
        AND id %% %(every)s = 0;
    INSERT INTO account_card (member_id, id, terms, auto_pay, billed_with_id, targets,
        excluded_category_ids, excluded_tag_ids, excludes_installments)
    SELECT member_id, id, CASE WHEN is_second THEN '[]' ELSE jsonb_build_array(
            jsonb_build_object('from', %(from)s::text, 'closingDay', 13,
                'paymentDay', 27, 'paymentMonth', 0, 'shift', 'NEXT')) END,
        false, CASE WHEN is_second THEN member_id * 100 END, '{}', '{}', '{}', false
    FROM (
        SELECT *, sort_order IN (1, 2) AS is_second FROM account
        WHERE member_id = %(member)s ORDER BY sort_order
    ) w
    ON CONFLICT (member_id, id) DO UPDATE SET terms = excluded.terms;
"""
# Cards of as many members that pay themselves, in a month.
MAKE_IDLE_CARDS = """
    INSERT INTO account_card (member_id, id, terms, auto_pay, pay_from_wallet_id,
        next_payment_on, targets, excluded_category_ids, excluded_tag_ids,
        excludes_installments)
    SELECT w.member_id, w.id, '[{"from": "2026-01", "closingDay": 13, "paymentDay": 27,
            "paymentMonth": 0, "shift": "NEXT"}]', true, w.member_id * 100,
        current_date + 30, '{}', '{}', '{}', false
    FROM account w WHERE w.member_id = ANY(%(members)s) AND w.id %% 100 > 0
    ORDER BY w.id LIMIT %(count)s
    ON CONFLICT DO NOTHING
"""
# Read by the plain statement: the items of the bills, and the sums of each month
# before them.
PLAIN_SQL = """
    SELECT e.id, e.wallet_id, e.date, e.memo, e.type, e.amount, e.installment_months,
        e.installment_parts, e.bill_month, e.refund_of_id
    FROM account_entry e
    WHERE e.member_id = %(member)s AND e.wallet_id = ANY(%(cards)s)
        AND (e.date BETWEEN %(since)s AND %(until)s OR e.installment_months IS NOT NULL)
    UNION ALL
    SELECT e.id, e.to_wallet_id, e.date, e.memo, e.type, -e.amount, NULL, NULL, NULL,
        NULL
    FROM account_entry e
    WHERE e.member_id = %(member)s AND e.to_wallet_id = ANY(%(cards)s)
        AND e.date > DATE '2022-11-13'
    UNION ALL
    SELECT NULL, e.wallet_id, date_trunc('month', e.date)::date, '', e.type,
        sum(e.amount), NULL, NULL, NULL, NULL
    FROM account_entry e
    WHERE e.member_id = %(member)s AND e.wallet_id = ANY(%(cards)s)
        AND e.date > DATE '2022-11-13'
        AND e.date NOT BETWEEN %(since)s AND %(until)s
    GROUP BY 2, 3, 5
"""


def make_dataset(scale: float) -> DatasetSpec:
    return DatasetSpec(20, 1_000, (100, int(100_000 * scale), 100), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    member = environment.spec.large_member()
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        make_cards(connection, member, environment.spec.large_size, "2021-12")
        rows = [
            *measure_bills(environment, connection, member),
            *measure_statistics(environment, member),
        ]
    return [*rows, *measure_job(environment)]


def make_cards(
    connection: psycopg.Connection, member: int, entries: int, first: str
) -> None:
    every = max(1, min(500, entries // 20))
    values = {"member": member, "every": every, "from": first}
    psycopg.ClientCursor(connection).execute(MAKE_CARDS, values)
    connection.execute("VACUUM ANALYZE account_entry")
    connection.execute("ANALYZE account_card")


def measure_bills(
    environment: BenchmarkEnvironment, connection: psycopg.Connection, member: int
) -> list[Row]:
    main, alone = member * 100, [member * 100 + 3, member * 100 + 4]
    group = [main, main + 1, main + 2]
    paths = {
        "bills of 3 cards on one bill, 24 months": bills_path(main),
        "bills of 1 card, 24 months": bills_path(alone[0]),
        "one bill of all 5 cards": "/api/account/bills?month=2026-09",
    }
    calls = {
        name: Client(environment.service_target(path, member))
        for name, path in paths.items()
    }
    since, until = "2024-10-14", "2026-10-13"
    plain = {
        "Q of 3 cards": (group, since, until),
        "Q of 1 card": (alone[:1], since, until),
        "Q of 5 cards": ([*group, *alone], "2026-08-14", "2026-09-13"),
    }

    def reader(cards: list[int], start: str, end: str) -> Callable[[], object]:
        values = {"member": member, "cards": cards, "since": start, "until": end}
        return lambda: connection.execute(PLAIN_SQL, values).fetchall()

    times = environment.time(
        {
            **calls,
            "T": environment.trivial_client(member),
            **{name: reader(*values) for name, values in plain.items()},
        },
        REPEATS,
    )
    found = compare(
        NAME,
        times,
        [
            (f"{name} : (T + Q)", name, ["T", q], 4.0)
            for name, q in zip(paths, plain, strict=True)
        ],
    )
    return [*found, *measure_history(environment, connection, alone)]


def measure_history(
    environment: BenchmarkEnvironment, connection: psycopg.Connection, cards: list[int]
) -> list[Row]:
    """Compare the last bill of a card five years old with that of a card two years old.

    Both have as many entries in each month. The second has no bills before.
    """
    old, new = cards
    connection.execute(
        """UPDATE account_card SET terms = jsonb_set(terms, '{0,from}', '"2024-11"')
        WHERE id = %s""",
        [new],
    )
    member = environment.spec.large_member()
    calls = {
        name: Client(
            environment.service_target(
                f"{WALLETS}/{card}/bills?from={LAST}&to={LAST}", member
            )
        )
        for name, card in {"five years": old, "two years": new}.items()
    }
    times = environment.time(calls, REPEATS)
    row = ("bill after five years : two years", "five years", ["two years"], 1.2)
    return compare(NAME, times, [row])


def bills_path(card: int) -> str:
    return f"{WALLETS}/{card}/bills?from={FIRST}&to={LAST}"


def measure_statistics(environment: BenchmarkEnvironment, member: int) -> list[Row]:
    rows: list[Row] = []
    for name, path in STATISTICS.items():
        plain = Client(environment.service_target(path, member))
        spread = Client(
            environment.service_target(f"{path}&installments=spread", member)
        )
        times = environment.time({name: plain, "spread": spread}, REPEATS)
        row = (f"{name} with spread parts : without", "spread", [name], 1.5)
        rows += compare(NAME, times, [row])
    return rows


def measure_job(environment: BenchmarkEnvironment) -> list[Row]:
    """Compare the job without cards and with cards that are not due."""
    count = max(10, int(CARDS * environment.spec.scale))
    first = 20 * environment.spec.all_members[-1]
    members = list(range(first, first + max(1, count // 4)))
    environment.add_members(members)
    command = {"job": lambda: environment.manage("run_recurring")}
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute(
            "DELETE FROM account_card WHERE member_id = ANY(%s)", [members]
        )
        before = environment.time(command, 3)["job"]
        values = {"members": members, "count": count}
        connection.execute(MAKE_IDLE_CARDS, values)
        connection.execute("ANALYZE account_card")
        after = environment.time(command, 3)["job"]
    series = {"with cards": after, "without": before}
    row = (f"job with {count:,} cards that are not due : without", "with cards")
    return compare(NAME, series, [(*row, ["without"], 1.1)])
