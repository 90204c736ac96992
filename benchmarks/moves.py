"""`moveTo` and the deletion of an account in a ledger of 500,000 entries.

All entries have one wallet and one category, six in ten a memo of their own, and one in
fifty is split. Meanwhile other members write and list entries.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

import psycopg

from benchmarks.client import Client, Target
from benchmarks.dataset import IDS_PER_MEMBER, DatasetSpec, vacuum_and_checkpoint
from benchmarks.environment import BenchmarkEnvironment
from benchmarks.load import observe
from benchmarks.report import Row, bounded, log_progress

NAME = "moves"
ENTRIES, TYPICAL_MEMBERS, ENTRIES_PER_MEMBER = 500_000, 100, 1_000
ENTRIES_PER_SPLIT = 50
MAX_SECONDS, MAX_P95_SECONDS = 30, 0.3
# Requests of others a second.
RATE = 40
# Added to the first id of the member.
WALLET, WALLET_TARGET, CATEGORY, CATEGORY_TARGET, OTHER_CATEGORY = 1, 2, 19, 21, 23
DELETIONS = {
    "wallet": "/api/account/wallets/{wallet}?moveTo={target}",
    "category": "/api/account/categories/{category}?moveTo={category_target}",
    "account": "/api/auth/me",
}
ADD_ENTRIES = """
INSERT INTO account_entry (member_id, date, type, amount, category_id, wallet_id, memo,
    pending, created_at, updated_at, line_count)
SELECT %(member)s, DATE '2013-01-01' + number / greatest(1, %(count)s / 4650),
    'expense', 100 + number %% 300000,
    CASE WHEN number %% %(split)s > 0 THEN %(category)s END, %(wallet)s,
    'memo ' || number %% (%(count)s * 6 / 10 + 1), number %% 200 = 1, now(), now(),
    CASE WHEN number %% %(split)s > 0 THEN 0 ELSE 3 END
FROM generate_series(0, %(count)s - 1) number
;
INSERT INTO account_entry_line (member_id, entry_id, position, amount, category_id,
    category_type, wallet_id, memo)
SELECT entry.member_id, entry.id, line.position, line.amount, line.category, 'expense',
    line.wallet, ''
FROM account_entry entry, LATERAL (
    VALUES (0, entry.amount - 30, %(category)s, NULL),
        (1, 20, %(other)s, NULL), (2, 10, NULL, %(target)s)
) line (position, amount, category, wallet)
WHERE entry.member_id = %(member)s AND entry.line_count = 3
;
INSERT INTO account_entry_tag (entry_id, tag_id, member_id, position)
SELECT id, member_id * %(ids)s + id %% 12, member_id, 0 FROM account_entry
WHERE member_id = %(member)s AND id %% 3 = 0
"""


def make_dataset(scale: float) -> DatasetSpec:
    members = max(4, int(TYPICAL_MEMBERS * min(1, scale)))
    return DatasetSpec(members, ENTRIES_PER_MEMBER, (0,), scale)


def measure(environment: BenchmarkEnvironment) -> list[Row]:
    spec = environment.spec
    member, count = spec.large_member(0), max(100, int(ENTRIES * spec.scale))
    first_id = member * IDS_PER_MEMBER
    values = {
        "member": member,
        "count": count,
        "ids": IDS_PER_MEMBER,
        "split": ENTRIES_PER_SPLIT,
        "wallet": first_id + WALLET,
        "target": first_id + WALLET_TARGET,
        "category": first_id + CATEGORY,
        "category_target": first_id + CATEGORY_TARGET,
        "other": first_id + OTHER_CATEGORY,
    }
    log_progress(f"loading {count:,} entries of one member")
    with psycopg.connect(environment.database_url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        psycopg.ClientCursor(connection).execute(ADD_ENTRIES, values)
    environment.manage("check_totals", "--repair")
    rows = []
    for name, path in DELETIONS.items():
        vacuum_and_checkpoint(environment.database_url)
        rows += measure_deletion(environment, name, path.format(**values), count)
        environment.manage("check_totals")
    return rows


def measure_deletion(
    environment: BenchmarkEnvironment, name: str, path: str, count: int
) -> list[Row]:
    log_progress(f"deleting: {name}")
    spec = environment.spec
    target = environment.service_target(path, spec.large_member(0))
    others = list_requests_of_others(environment, range(1, spec.members + 1))
    for each in others:
        Client(each)()  # fills the caches of the service
    with observe(others, RATE) as observed:
        started = time.perf_counter()
        Client(target).send(replace(target, method="DELETE"))
        seconds = time.perf_counter() - started
    level = f"{seconds:.1f} s for {count:,} entries"
    text = f"{name}: requests of others, p95; ratio: seconds"
    return [
        bounded(NAME, f"{name}; ratio: seconds", level, seconds, MAX_SECONDS),
        bounded(NAME, text, str(observed), observed.p95, MAX_P95_SECONDS),
    ]


def list_requests_of_others(
    environment: BenchmarkEnvironment, members: Sequence[int]
) -> list[Target]:
    entry = {"date": "2026-11-20", "type": "expense", "amount": 1_000}
    targets = []
    for member in members:
        page = environment.service_target("/api/account/entries?size=20", member)
        created = environment.service_target("/api/account/entries", member)
        body = entry | {"walletId": member * IDS_PER_MEMBER}
        targets += [page, created.sending(body)]
    return targets
