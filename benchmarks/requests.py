"""Requests of the ledger beside T, beside a short history, and beside flat entries."""

import psycopg

from benchmarks.client import Calls, Client
from benchmarks.dataset import IDS_PER_MEMBER
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.report import Row, compare, log_progress

NAME = "requests"
YEAR, MONTH = 2023, 3
MONTH_QUERY = f"year={YEAR}&month={MONTH}"
REPEATS = 20
ENTRIES, STATISTICS = "/api/account/entries", "/api/account/statistics"
NET_WORTH, MONTH_PATH = "/api/account/networth", f"{STATISTICS}/month?{MONTH_QUERY}"
# Name, path, most growth, and most time as a multiple of T.
READS = (
    ("month", MONTH_PATH, 1.5, 2.5),
    ("year", f"{STATISTICS}/year?year={YEAR}", 1.3, 2.5),
    (
        "range of a year by week",
        f"{STATISTICS}/range?from={YEAR}-01-05&to={YEAR}-12-30&groupBy=week",
        *(1.3, 2.5),
    ),
    ("trend of 60 months", f"{NET_WORTH}/trend?months=60", 1.3, 2.5),
    ("trend of 52 weeks", f"{NET_WORTH}/trend?unit=WEEK&weeks=52", 1.3, 2.5),
    ("budget status", f"/api/account/budgets/status?{MONTH_QUERY}", 1.5, None),
    ("net worth", NET_WORTH, 1.5, 2.0),
    ("balances", "/api/account/wallets", 1.5, None),
    (
        "history of a wallet",
        "/api/account/wallets/{first}/history?from=2021-11-01",
        *(1.5, None),
    ),
)
MAX_WITH_LINES = 1.15
# Name, subject, other, and most time as a multiple.
WRITES = (
    ("transfer : flat", "transfer", "flat", 2.0),
    ("entry with 5 lines : flat", "entry with 5 lines", "flat", 2.0),
    ("write, then month : T", "write, then month", "T", 4.0),
)
ADD_BUDGETS = """
    INSERT INTO account_budget (member_id, category_id, type, year, month, amount)
    SELECT member_id, id, 'expense', %s, %s, 500000 FROM account_category
    WHERE type = 'expense' ON CONFLICT DO NOTHING
"""


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    mixed = 2 * environment.spec.all_members[-1]
    log_progress("loading entries with lines")
    environment.add_members([mixed], environment.spec.large_size, has_lines=True)
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute(ADD_BUDGETS, [YEAR, MONTH])
    rows = [row for read in READS for row in measure_read(environment, mixed, *read)]
    return rows + measure_writes(environment, mixed)


def measure_read(
    environment: BenchmarkEnvironment,
    mixed: int,
    name: str,
    path: str,
    max_growth: float,
    max_in_t: float | None,
) -> list[Row]:
    spec = environment.spec
    members = {f"{size:,}": member for member, size in spec.large_members.items()}
    calls = {
        text: Client(
            environment.service_target(
                path.format(first=member * IDS_PER_MEMBER), member
            )
        )
        for text, member in {**members, "lines": mixed}.items()
    }
    calls["T"] = environment.trivial_client(spec.large_member())
    flat, first, last = (f"{spec.sizes[index]:,}" for index in (-2, 0, -1))
    rows: list[tuple[str, str, list[str], float | None]] = [
        (f"{name}, growth {last} : {first} entries", last, [first], max_growth),
        (f"{name}, {flat} with lines : without", "lines", [flat], MAX_WITH_LINES),
    ]
    if max_in_t:
        rows.append((f"{name}, {flat} entries : T", flat, ["T"], max_in_t))
    return [
        *compare(NAME, environment.time(calls, REPEATS), rows),
        environment.measure_processor_time(NAME, name, calls[flat]),
    ]


def measure_writes(environment: BenchmarkEnvironment, member: int) -> list[Row]:
    first = member * IDS_PER_MEMBER
    target = environment.service_target(ENTRIES, member)
    flat: dict[str, object] = {
        "date": f"{YEAR}-{MONTH:02}-07",
        "type": "expense",
        "amount": 5_000,
        "walletId": first,
        "memo": "market",
    }
    lines: list[dict[str, object]] = [
        *({"amount": 1_000, "category": f"Minor {10 + n}"} for n in range(4)),
        {"amount": 1_000, "walletId": first + 1},
    ]
    create = Client(target.sending(flat | {"category": "Minor 10"}))
    month = Client(environment.service_target(MONTH_PATH, member))
    transfer = flat | {"type": "transfer", "toWalletId": first + 1}
    calls: Calls = {
        "flat": create,
        "transfer": Client(target.sending(transfer)),
        "entry with 5 lines": Client(target.sending(flat | {"lines": lines})),
        "write, then month": lambda: (create(), month()),
        "T": environment.trivial_client(member),
    }
    times = environment.time(calls, REPEATS)
    rows = [(name, subject, [other], most) for name, subject, other, most in WRITES]
    return compare(NAME, times, rows)
