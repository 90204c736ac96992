"""Write to a database that is being upgraded, then use it: `write` or `use`."""

import contextlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import django
import orjson
import psycopg
from psycopg.errors import DeadlockDetected

django.setup()

from django.core.management import call_command  # noqa: E402
from django.utils import timezone  # noqa: E402

from accounts.models import Member  # noqa: E402
from core.db.locks import AdvisoryLock, make_lock_key  # noqa: E402
from core.db.sessions import open_session  # noqa: E402
from ledger.models import Category, Tag  # noqa: E402
from tests.support.clients import JSONClient  # noqa: E402

WRITERS = 4
# The statements of release 1.0. While a database is upgraded the processes of the former
# release still write, so that these stay as they are.
CREATE = """
    SELECT account_create_entry(
        owner => %(member)s, ledger_lock => %(lock)s, ledger_key => %(key)s,
        entry => jsonb_populate_record(NULL::account_entry, %(entry)s::jsonb),
        category_name => %(category)s, tag_names => %(tags)s, lines => %(lines)s::jsonb
    )
"""
UPDATE = """
    UPDATE account_entry SET amount = 2, memo = 'changed', updated_at = now()
    WHERE member_id = %(member)s AND id = %(id)s
"""
DELETE_TAGS = """
    DELETE FROM account_entry_tag WHERE member_id = %(member)s AND entry_id = %(id)s
"""
TAKE_OFF_TOTALS = """
    UPDATE account_entry SET line_count = NULL
    WHERE member_id = %(member)s AND id = %(id)s
"""
DELETE_LINES = """
    DELETE FROM account_entry_line WHERE member_id = %(member)s AND entry_id = %(id)s
"""
DELETE = "DELETE FROM account_entry WHERE member_id = %(member)s AND id = %(id)s"


def write() -> None:
    """Create, change and delete entries in four threads until the input ends."""
    member = Member.objects.only("pk").get(login_id="demo-premium")
    # Columns that the release has.
    categories = Category.objects.filter(member=member, type="expense")
    category = categories.only("id", "name").latest("id")
    line = {
        "amount": 1,
        "category": category.name,
        "category_type": "expense",
        "wallet": None,
        "memo": "",
    }
    tags = Tag.objects.filter(member=member).order_by("id")
    names = list(tags.values_list("name", flat=True)[:2])
    params: dict[str, object] = {
        "member": member.pk,
        "lock": AdvisoryLock.LEDGER.value,
        "key": make_lock_key(member.pk),
        "category": None,
        "tags": names,
        "lines": orjson.dumps([line] * 3).decode(),
    }
    stopped = threading.Event()
    counts = [0] * WRITERS

    def run(number: int) -> None:
        with open_session(autocommit=True) as session:
            while not stopped.is_set():
                # The service repeats a transaction after a conflict.
                with contextlib.suppress(DeadlockDetected), session.transaction():
                    create_and_delete(session, params)
                    counts[number] += 1

    with ThreadPoolExecutor(WRITERS) as executor:
        writers = [executor.submit(run, number) for number in range(WRITERS)]
        sys.stdout.write("writing\n")
        sys.stdout.flush()
        sys.stdin.read()
        stopped.set()
        for writer in writers:
            writer.result()
    sys.stdout.write(f"{min(counts)} {sum(counts)}\n")


def create_and_delete(session: psycopg.Connection, params: dict[str, object]) -> None:
    """Create two entries, change both, delete one."""
    now = timezone.now()
    entry = {
        "date": timezone.localdate(now),
        "type": "expense",
        "is_reversal": False,
        "amount": 3,
        "wallet_id": None,
        "to_wallet_id": None,
        "refund_of_id": None,
        "excluded": False,
        "time": None,
        "source": "MANUAL",
        "memo": "",
        "currency": None,
        "original_amount": None,
        "exchange_rate": None,
        "installment_months": None,
        "pending": False,
        "created_at": now,
        "updated_at": now,
    }
    values = params | {"entry": orjson.dumps(entry, default=str).decode()}
    row = session.execute(CREATE, values).fetchone()
    assert row is not None
    assert row[0] is not None
    flat = session.execute(CREATE, values | {"lines": None}).fetchone()
    assert flat is not None
    session.execute(UPDATE, values | {"id": flat[0]})
    gone = values | {"id": row[0]}
    for statement in (TAKE_OFF_TOTALS, DELETE_TAGS, DELETE_LINES, DELETE):
        session.execute(statement, gone)


def use() -> None:
    """Read a backup, write, delete a category: the statuses are printed."""
    # The plan of the sample has a day on which it ends.
    expires_at = timezone.now() + timedelta(30)
    Member.objects.filter(login_id="demo-premium").update(plan_expires_at=expires_at)
    member = Member.objects.get(login_id="demo-premium")
    client = JSONClient(member)
    used, target = Category.objects.filter(
        member=member, type="expense", parent__isnull=False
    )[:2]
    day = (timezone.localdate() - timedelta(1)).isoformat()
    body = {"date": day, "type": "expense", "amount": 5, "category": used.name}
    responses = [
        client.send("GET", "/api/account/backup"),
        client.send("POST", "/api/account/entries", body),
        client.send("GET", "/api/account/statistics/month"),
        client.send("DELETE", f"/api/account/categories/{used.pk}?moveTo={target.pk}"),
        client.send("GET", "/api/board/posts"),
    ]
    sys.stdout.write(" ".join(str(each.status_code) for each in responses) + "\n")
    call_command("check_totals", stdout=sys.stderr)
    call_command("check_board_counters", stdout=sys.stderr)


{"write": write, "use": use}[sys.argv[1]]()
