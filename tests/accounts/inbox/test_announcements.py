"""Announcements in inboxes: one row for all, read and deleted by each member alone."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.announcements.announcements import KNOWN
from accounts.inbox.items import add_items, purge_inboxes
from accounts.models import Announcement, AnnouncementMark, InboxItem, Member
from tests.support.announcements import make_announcement
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_problem

pytestmark = pytest.mark.django_db

INBOX = "/api/inbox"


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def list_items(client: JSONClient, **query: Any) -> list[Any]:
    return list(client.get_json(INBOX, **query)["results"])


def unread(client: JSONClient) -> int:
    return int(client.get_json(f"{INBOX}/count")["unread"])


def read(client: JSONClient, **body: Any) -> None:
    assert client.send("POST", f"{INBOX}/read", body).status_code == 204


def test_current_announcement_is_in_the_inbox_of_each_member(
    client: JSONClient, other_member: Member
) -> None:
    announcement = make_announcement("Maintenance")
    for each in (client, JSONClient(other_member)):
        (item,) = list_items(each)
        assert item == {
            "id": item["id"],
            "kind": "ANNOUNCEMENT",
            "at": announcement.starts_at.isoformat(),
            "count": 1,
            "actor": None,
            "text": "Maintenance\n\nWords",
            "target": {"type": "ANNOUNCEMENT", "id": announcement.pk, "postId": None},
            "read": False,
        }
        assert unread(each) == 1
    korean = client.get(INBOX, HTTP_ACCEPT_LANGUAGE="ko").json()["results"]
    assert korean[0]["text"] == "Maintenance (ko)\n\n글"
    # Nothing is written for anybody.
    assert not InboxItem.objects.exists()
    assert not AnnouncementMark.objects.exists()


def test_it_stands_among_the_items_in_their_order(
    client: JSONClient, free_member: Member
) -> None:
    add_items([free_member.pk], "COMMENT", target_type="X", target_id=1)
    make_announcement("first")
    list_items(client)
    add_items([free_member.pk], "COMMENT", target_type="X", target_id=2)
    make_announcement("second")
    kinds = [item["kind"] for item in list_items(client)]
    assert kinds == ["ANNOUNCEMENT", "COMMENT", "ANNOUNCEMENT", "COMMENT"]
    url, walked = f"{INBOX}?size=1", []
    while url:
        page = client.get(url).json()
        assert len(page["results"]) == 1
        walked += page["results"]
        url = page["next"]
    assert walked == list_items(client)
    assert len({item["id"] for item in walked}) == 4


def test_one_that_begins_later_comes_to_the_front_then(
    client: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    later = now + timedelta(hours=1)
    make_announcement(starts_at=later, ends_at=later + timedelta(days=1))
    assert list_items(client) == []
    add_items([free_member.pk], "COMMENT", target_type="X", target_id=1)
    (item,) = list_items(client)
    read(client, upTo=item["id"])
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert [item["kind"] for item in list_items(client)] == ["ANNOUNCEMENT", "COMMENT"]
    assert unread(client) == 1


@pytest.mark.parametrize("by", ["ids", "upTo"])
def test_it_is_read_by_each_member_alone(
    client: JSONClient, other_member: Member, by: str
) -> None:
    make_announcement("old")
    old = list_items(client)[0]["id"]
    make_announcement("new")
    for _ in range(2):
        read(client, **{by: [old] if by == "ids" else old})
    assert [item["read"] for item in list_items(client)] == [False, True]
    assert [i["text"][:3] for i in list_items(client, unread="true")] == ["new"]
    assert unread(client) == 1
    assert unread(JSONClient(other_member)) == 2


def test_deleted_one_is_gone_for_the_member_alone(
    client: JSONClient, other_member: Member
) -> None:
    make_announcement()
    (item,) = list_items(client)
    path = f"{INBOX}/{item['id']}"
    read(client, ids=[item["id"]])
    assert client.send("DELETE", path).status_code == 204
    assert list_items(client) == []
    assert unread(client) == 0
    assert_problem(client.send("DELETE", path), 404, "NOT_FOUND")
    read(client, upTo=item["id"])
    assert list_items(client) == []
    assert unread(JSONClient(other_member)) == 1


def test_another_audience_has_none(client: JSONClient) -> None:
    make_announcement(audience="PREMIUM")
    make_announcement(audience="STAFF")
    assert (list_items(client), unread(client)) == ([], 0)
    administrator = JSONClient(make_member(role="ADMIN"))
    hidden = {item["id"] for item in list_items(administrator)}
    assert len(hidden) == 2
    for number in hidden:
        assert client.send("DELETE", f"{INBOX}/{number}").status_code == 404
    read(client, upTo=max(hidden))
    assert not AnnouncementMark.objects.exists()


def test_count_ends_at_more_than_99(client: JSONClient, free_member: Member) -> None:
    make_announcement()
    pairs = range(99)
    for number in pairs:
        add_items([free_member.pk], "COMMENT", target_type="X", target_id=number + 1)
    assert unread(client) == 100
    add_items([free_member.pk], "COMMENT", target_type="X", target_id=500)
    assert unread(client) == 100


def test_nothing_announced_costs_no_statement(client: JSONClient) -> None:
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            unread(client)
        counts.append(
            len([q for q in queries if "announcement" in q["sql"]]),
        )
        make_announcement()
        list_items(client)
    # One primary-key lookup of the member's marks.
    assert counts == [0, 1]


def test_marks_of_what_is_over_or_gone_are_purged(
    client: JSONClient, free_member: Member
) -> None:
    now = timezone.now()
    kept, gone = make_announcement(), make_announcement()
    over = make_announcement(ends_at=now + timedelta(minutes=1))
    read(client, upTo=2**62)
    assert AnnouncementMark.objects.count() == 3
    type(gone).objects.filter(pk=gone.pk).delete()
    assert purge_inboxes(now + timedelta(minutes=2)) == 2
    assert AnnouncementMark.objects.get().announcement_id == kept.pk
    assert over.ends_at


def test_announcement_that_another_process_showed_is_read_and_deleted(
    client: JSONClient, settings: Any
) -> None:
    settings.ANNOUNCEMENT_CACHE_SECONDS = 10
    assert unread(client) == 0
    # Written and placed by another process, which this one learns of in 10 seconds.
    first, second = make_announcement(), make_announcement()
    KNOWN.announcements, KNOWN.read_at = (), time.monotonic()
    for number, each in enumerate((first, second), start=1):
        Announcement.objects.filter(pk=each.pk).update(inbox_id=number)
    assert unread(client) == 0
    read(client, ids=[1])
    KNOWN.announcements, KNOWN.read_at = (), time.monotonic()
    assert client.send("DELETE", f"{INBOX}/2").status_code == 204
    marks = AnnouncementMark.objects.values_list("announcement_id", "is_deleted")
    assert set(marks) == {(first.pk, False), (second.pk, True)}
