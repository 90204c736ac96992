"""The feed of changes beside writers (spec 3.26)."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Member
from ledger.changes import feed
from ledger.models import Tag
from ledger.recurring.occurrences import process_due_rules
from tests.support.alert_texts import NOTIFICATION
from tests.support.clients import JSONClient
from tests.support.copies import CHANGES, Copy
from tests.support.entry_writing import ENTRIES, PLAIN
from tests.support.factories import make_category, make_rule, make_wallet
from tests.support.races import run_concurrently
from tests.support.rollups import assert_rollups_are_right
from tests.support.scale import scaled
from tests.support.workbooks import download_backup, upload

pytestmark = pytest.mark.django_db(transaction=True)

A = "/api/account"
SECONDS = scaled(4, 60)
# Numbers are drawn before the commit, and nobody waits for one.
BY_SEQUENCE = """
    CREATE SEQUENCE feed_number;
    CREATE OR REPLACE FUNCTION account_stamp_version() RETURNS trigger
    LANGUAGE plpgsql AS $$ BEGIN
        NEW.version := nextval('feed_number'); RETURN NEW;
    END $$
"""
STATE_BY_SEQUENCE = (
    "SELECT last_value AS revision, 0::bigint AS oldest_cursor FROM feed_number"
)


@pytest.fixture
def by_sequence(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Draw the numbers of rows from a sequence."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_functiondef('account_stamp_version'::regproc)")
        (former,) = cursor.fetchone()
        cursor.execute(BY_SEQUENCE)
    monkeypatch.setattr(feed, "_STATE", STATE_BY_SEQUENCE)
    feed._make_page_statement.cache_clear()
    yield
    feed._make_page_statement.cache_clear()
    with connection.cursor() as cursor:
        cursor.execute(former)
        cursor.execute("DROP SEQUENCE feed_number")


def write_out_of_order(member: Member) -> Copy:
    """Commit the second of two writes first if it can, and read in between."""
    copy = Copy(JSONClient(member))
    copy.read()
    settings = connection.get_connection_params()
    settings = {
        name: settings[name]
        for name in ("dbname", "user", "password", "host", "port")
        if name in settings
    }
    insert = "INSERT INTO account_tag (member_id, name, sort_order) VALUES (%s, %s, 0)"
    with psycopg.connect(**settings) as first, psycopg.connect(**settings) as second:
        first.execute(insert, [member.pk, "first"])
        second.execute("SET lock_timeout = '300ms'")
        second.commit()
        try:
            second.execute(insert, [member.pk, "second"])
        except psycopg.errors.LockNotAvailable:
            second.rollback()
        else:
            second.commit()
        copy.read()
        first.commit()
    copy.read()
    return copy


def test_feed_numbered_by_a_sequence_would_skip_rows(
    by_sequence: None, free_member: Member
) -> None:
    copy = write_out_of_order(free_member)
    names = {row["data"]["name"] for row in copy.seen if row["kind"] == "tag"}
    assert names == {"second"}
    assert Tag.objects.count() == 2


def test_later_write_waits_for_the_earlier_one(free_member: Member) -> None:
    copy = write_out_of_order(free_member)
    names = {row["data"]["name"] for row in copy.seen if row["kind"] == "tag"}
    assert names == {"first"}
    assert Tag.objects.count() == 1


class Phone(JSONClient):
    """Comes again when all connections of the service are taken."""

    def send(self, method: str, path: str, body: Any = None, **extra: Any) -> Any:
        while True:
            answer = super().send(method, path, body, **extra)
            if answer.status_code != 503:
                return answer


class Reader:
    """A phone that reads again and again, and starts anew where it has to."""

    def __init__(self, member: Member, size: int) -> None:
        self.client, self.size = Phone(member), size
        self.copy = Copy(self.client, size)
        self.starts = 0

    def read_until(self, over: threading.Event) -> None:
        while not over.is_set():
            self.read_page()

    def read_page(self) -> bool:
        """Return True if there may be more."""
        query = f"?size={self.size}"
        if self.copy.cursor:
            query += f"&since={self.copy.cursor}"
        answer = self.client.send("GET", CHANGES + query)
        if answer.status_code == 410:
            self.copy = Copy(self.client, self.size)
            self.starts += 1
            return True
        assert answer.status_code == 200, answer.content
        for change in answer.data["changes"]:
            self.copy.apply(change)
        self.copy.cursor = answer.data["cursor"]
        more: bool = answer.data["hasMore"]
        return more


class Writer:
    """A phone that writes one kind of thing again and again."""

    def __init__(self, member: Member, number: int, workbook: bytes) -> None:
        self.client, self.draw = Phone(member), random.Random(number)
        self.workbook = workbook
        self.kinds = (
            *(self.write_entry, self.write_batch, self.write_wallet),
            *(self.write_category, self.write_tag, self.write_budget),
            *(self.write_trade, self.write_notification),
        )
        self.write = self.kinds[number]
        self.done = 0

    def write_until(self, end: float) -> None:
        while time.monotonic() < end or not self.done:
            answer = self.write()
            # A restore replaces rows that were listed before.
            assert answer.status_code < 500, answer.content
            self.done += answer.status_code < 300

    def list_ids(self, path: str) -> list[int]:
        rows = self.client.send("GET", f"{A}/{path}").data
        rows = rows if isinstance(rows, list) else rows["results"]
        return [row["id"] for row in rows]

    def choose(self, path: str) -> str:
        return f"{A}/{path}/{self.draw.choice(self.list_ids(path) or [1])}"

    def delete(self, path: str) -> Any:
        """Delete a row, and often bring it back."""
        answer = self.client.send("DELETE", path)
        operation_id = answer.headers.get("Operation-Id")
        if operation_id is None or self.draw.random() < 0.4:
            return answer
        return self.client.send("POST", f"{A}/operations/{operation_id}/undo", {})

    def write_entry(self) -> Any:
        draw = self.draw
        match draw.randrange(3):
            case 0:
                return self.delete(self.choose("entries"))
            case 1:
                body = {"memo": str(draw.random()), "tags": [f"t{draw.randrange(5)}"]}
                return self.client.send("PATCH", self.choose("entries"), body)
        names = {"category": f"category{draw.randrange(5)}"}
        return self.client.send("POST", ENTRIES, PLAIN | names)

    def write_batch(self) -> Any:
        created = [{"op": "create", "entry": PLAIN | {"memo": "batch"}}] * 5
        self.client.send("POST", f"{ENTRIES}/batch", {"operations": created})
        change = {"filter": {"keyword": "batch"}, "addTags": ["b"]}
        return self.client.send("PATCH", ENTRIES, change)

    def write_wallet(self) -> Any:
        body = {"name": f"new{self.draw.random()}", "kind": "CASH"}
        self.client.send("POST", f"{A}/wallets", body)
        target = self.list_ids("wallets")[0]
        path = self.choose("wallets")
        return self.delete(f"{path}?moveTo={target}")

    def write_category(self) -> Any:
        body = {"icon": f"i{self.draw.randrange(99)}"}
        return self.client.send("PATCH", self.choose("categories"), body)

    def write_tag(self) -> Any:
        if len(self.list_ids("tags")) > 3:
            return self.delete(self.choose("tags"))
        return self.client.send("POST", f"{A}/tags", {"name": str(self.draw.random())})

    def write_budget(self) -> Any:
        body = {"category": "category1", "amount": self.draw.randrange(1, 99)}
        body |= {"year": 2026, "month": self.draw.randrange(1, 13)}
        answer = self.client.send("POST", f"{A}/budgets", body)
        if answer.status_code == 201:
            path = f"{A}/budgets/{answer.data['id']}"
            self.client.send("DELETE", path)
        return answer

    def write_trade(self) -> Any:
        code = str(self.draw.randrange(9))
        stock = {"code": code, "name": "Stock"}
        self.client.send("POST", f"{A}/stocks", stock)
        body = {"side": "BUY", "date": "2026-11-21", "quantity": 1, "price": 1}
        stock_id = (self.list_ids("stocks") or [1])[0]
        return self.client.send("POST", f"{A}/trades", body | {"stockId": stock_id})

    def write_notification(self) -> Any:
        amount = f"{self.draw.randrange(10**6):,}"
        text = f"신한카드(1309)승인 {amount}원 11/10 08:31 바람커피"
        answer = self.client.send("POST", NOTIFICATION, {"text": text})
        process_due_rules(timezone.now())
        # As rare as it is.
        if self.draw.random() < 0.05:
            upload(self.client, self.workbook)
        return answer


def test_four_readers_beside_eight_writers_have_what_the_server_has(
    premium_member: Member,
) -> None:
    for number in range(3):
        make_wallet(premium_member, name=f"wallet{number}")
        make_category(premium_member, name=f"category{number}")
    make_rule(premium_member, anchor_date=date(2026, 1, 1), frequency="DAILY")
    workbook = download_backup(premium_member)
    writers = [Writer(premium_member, number, workbook) for number in range(8)]
    readers = [Reader(premium_member, size) for size in (1, 7, 100, 1_000)]
    over, end = threading.Event(), time.monotonic() + SECONDS

    def write() -> None:
        try:
            run_concurrently([partial(each.write_until, end) for each in writers])
        finally:
            over.set()

    run_concurrently([write, *(partial(each.read_until, over) for each in readers)])
    client = JSONClient(premium_member)
    digests = client.get_json(f"{CHANGES}/digest")["kinds"]
    whole = Copy(client, 1_000)
    whole.read()
    for reader in readers:
        while reader.read_page():
            pass
        assert reader.copy.rows == whole.rows
        assert reader.copy.compute_digests() == {
            kind: row for kind, row in digests.items() if row["count"]
        }
        seen = Counter(
            (row["kind"], row["id"], row["version"]) for row in reader.copy.seen
        )
        assert set(seen.values()) == {1}
    assert_rollups_are_right()
