"""The inbox: what is told once, to whom, in which language, and for how long."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.inbox.items import add_items, purge_inboxes
from accounts.models import Block, InboxItem, Member
from board.models import Comment, Post
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

pytestmark = pytest.mark.django_db

INBOX = "/api/inbox"
NOW = timezone.now()


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def post(free_member: Member) -> Post:
    return make_post(free_member, title="Rice")


def comment(member: Member, post: Post, **fields: Any) -> Any:
    path = f"/api/board/posts/{post.pk}/comments"
    answer = JSONClient(member).send("POST", path, {"content": "words"} | fields)
    assert answer.status_code == 201, answer.content
    return answer.data["id"]


def list_items(client: JSONClient, **query: Any) -> list[Any]:
    return list(client.get_json(INBOX, **query)["results"])


def unread(client: JSONClient) -> int:
    return int(client.get_json(f"{INBOX}/count")["unread"])


def test_author_of_a_post_is_told_of_comments_once_until_read(
    client: JSONClient, post: Post
) -> None:
    first, second = make_member(), make_member(display_name="Junho")
    comment(first, post)
    old_id = InboxItem.objects.get().pk
    comment(second, post)
    (item,) = list_items(client)
    assert item == {
        "id": item["id"],
        "kind": "COMMENT",
        "at": item["at"],
        "count": 2,
        "actor": {
            "id": second.pk,
            "displayName": "Junho",
            "avatar": None,
            "staff": False,
        },
        "text": "2 new comments on your post “Rice”, the last one by Junho.",
        "target": {"type": "POST", "id": post.pk, "postId": post.pk},
        "read": False,
    }
    # What was read before the second comment is not what there is now.
    assert item["id"] > old_id
    assert client.send("POST", f"{INBOX}/read", {"upTo": old_id}).status_code == 204
    assert unread(client) == 1
    client.send("POST", f"{INBOX}/read", {"upTo": item["id"]})
    assert unread(client) == 0
    comment(second, post)
    newest, read = list_items(client)
    assert (newest["count"], newest["read"], read["read"]) == (1, False, True)
    assert newest["text"] == "Junho commented on your post “Rice”."
    assert [i["id"] for i in list_items(client, unread="true")] == [newest["id"]]


def test_text_is_in_the_language_of_the_reader(client: JSONClient, post: Post) -> None:
    comment(make_member(display_name="준호"), post)
    answer = client.get(INBOX, HTTP_ACCEPT_LANGUAGE="ko")
    assert "준호" in answer.json()["results"][0]["text"]
    assert "commented" not in answer.json()["results"][0]["text"]


def test_author_of_the_answered_comment_is_told_of_a_reply(
    client: JSONClient, free_member: Member
) -> None:
    post = make_post(make_member())
    root = make_comment(free_member, post=post)
    comment(make_member(), post, parentId=root.pk)
    (item,) = list_items(client)
    assert (item["kind"], item["target"]) == (
        "REPLY",
        {"type": "COMMENT", "id": root.pk, "postId": post.pk},
    )
    assert [i["kind"] for i in list_items(JSONClient(post.member))] == ["COMMENT"]


def test_who_wrote_both_is_told_of_the_reply_alone(
    client: JSONClient, post: Post, free_member: Member
) -> None:
    root = make_comment(free_member, post=post)
    comment(make_member(), post, parentId=root.pk)
    assert [item["kind"] for item in list_items(client)] == ["REPLY"]


def test_nobody_is_told_of_own_deeds(client: JSONClient, post: Post) -> None:
    assert client.member
    root = comment(client.member, post)
    comment(client.member, post, parentId=root)
    assert list_items(client) == []


def test_hot_post_is_told_once(client: JSONClient, post: Post) -> None:
    Post.objects.filter(pk=post.pk).update(up_count=49)
    voter = JSONClient(make_member())
    path = f"/api/board/posts/{post.pk}/vote"
    for state in ("up", "none", "up"):
        voter.send("POST", path, {"set": state})
    (item,) = list_items(client)
    assert (item["kind"], item["actor"], item["count"]) == ("POST_HOT", None, 1)


def test_blocked_member_is_heard_neither_when_made_nor_when_read(
    client: JSONClient, post: Post, free_member: Member
) -> None:
    before, after = make_member(display_name="Bad"), make_member()
    comment(before, post)
    assert unread(client) == 1
    for member in (before, after):
        Block.objects.create(member=free_member, blocked=member)
    assert (unread(client), list_items(client)) == (0, [])
    other = make_post(free_member)
    comment(after, other)
    assert InboxItem.objects.count() == 1
    Block.objects.all().delete()
    assert unread(client) == 1


@pytest.mark.parametrize("way", ["hidden", "gone"])
def test_item_whose_target_cannot_be_seen_is_neither_listed_nor_counted(
    client: JSONClient, post: Post, free_member: Member, way: str
) -> None:
    elsewhere = make_post(make_member())
    root = make_comment(free_member, post=elsewhere)
    comment(make_member(), post)
    comment(make_member(), elsewhere, parentId=root.pk)
    assert unread(client) == len(list_items(client)) == 2
    if way == "hidden":
        Post.objects.filter(pk=post.pk).update(is_hidden=True)
        Post.objects.filter(pk=elsewhere.pk).update(is_hidden=True)
    else:
        Comment.objects.all().delete()
        Post.objects.all().delete()
    assert (unread(client), list_items(client)) == (0, [])


def test_muted_kind_is_not_told(client: JSONClient, post: Post) -> None:
    settings = client.get_json(f"{INBOX}/settings")["settings"]
    assert {each["inbox"] for each in settings} == {True}
    assert {each["kind"] for each in settings} == {
        *("COMMENT", "REPLY", "POST_HOT", "REPORT_RESOLVED"),
    }
    path, off = f"{INBOX}/settings", [{"kind": "COMMENT", "inbox": False}]
    for _ in range(2):
        changed = client.send("PUT", path, {"settings": off}).data["settings"]
        assert [e["kind"] for e in changed if not e["inbox"]] == ["COMMENT"]
    comment(make_member(), post)
    assert list_items(client) == []
    client.send("PUT", path, {"settings": [{"kind": "COMMENT", "inbox": True}]})
    comment(make_member(), post)
    assert len(list_items(client)) == 1


@pytest.mark.parametrize(
    "settings",
    [
        None,
        {},
        [{"kind": "CONTENT_HIDDEN", "inbox": False}],
        [{"kind": "x", "inbox": False}],
        [{"kind": "REPLY"}],
        [{"kind": "REPLY", "inbox": "no"}],
        [{"kind": "REPLY", "inbox": False}] * 11,
    ],
)
def test_wrong_settings_are_refused(client: JSONClient, settings: Any) -> None:
    answer = client.send("PUT", f"{INBOX}/settings", {"settings": settings})
    assert_problem(answer, 400, "VALIDATION_ERROR")
    assert answer.data["errors"][0]["field"].startswith("settings")


def make_items(member: Member, count: int) -> list[int]:
    items = InboxItem.objects.bulk_create(
        InboxItem(member=member, kind="SECURITY", target_id=n) for n in range(count)
    )
    return [item.pk for item in items]


def test_pages_by_key(client: JSONClient, free_member: Member) -> None:
    ids = make_items(free_member, 5)
    make_items(make_member(), 2)
    first = client.get_json(INBOX, size=2)
    assert [item["id"] for item in first["results"]] == ids[:2:-1]
    assert first["next"].endswith(f"?size=2&before={ids[3]}")
    last = client.get_json(INBOX, size=4, before=ids[2])
    assert ([item["id"] for item in last["results"]], last["next"]) == (
        [ids[1], ids[0]],
        None,
    )
    for name in ("before", "size"):
        assert_invalid(client.send("GET", f"{INBOX}?{name}=0"), name)
    assert_invalid(client.send("GET", f"{INBOX}?unread=x"), "unread")


def test_hundred_means_more_than_99(client: JSONClient, free_member: Member) -> None:
    make_items(free_member, 99)
    assert unread(client) == 99
    InboxItem.objects.create(member=free_member, kind="SECURITY", target_id=1_000)
    InboxItem.objects.create(member=free_member, kind="SECURITY", target_id=1_001)
    assert unread(client) == 100


def test_items_are_read_by_id_and_those_of_others_are_left(
    client: JSONClient, free_member: Member
) -> None:
    ids, theirs = make_items(free_member, 3), make_items(make_member(), 1)
    body = {"ids": [ids[0], theirs[0], 2**62]}
    assert client.send("POST", f"{INBOX}/read", body).status_code == 204
    read = InboxItem.objects.exclude(read_at=None).values_list("pk", flat=True)
    assert list(read) == [ids[0]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body"),
        ({"ids": []}, "ids"),
        ({"ids": [1], "upTo": 1}, "body"),
        ({"ids": [1] * 101}, "ids"),
        ({"ids": ["x"]}, "ids.0"),
        ({"upTo": 0}, "upTo"),
        ({"upTo": "1"}, "upTo"),
    ],
)
def test_wrong_reading_is_refused(client: JSONClient, body: Any, field: str) -> None:
    answer = client.send("POST", f"{INBOX}/read", body)
    assert_problem(answer, 400, "VALIDATION_ERROR")
    assert answer.data["errors"][0]["field"].startswith(field.partition(".")[0])


def test_item_is_deleted_by_its_owner_alone(
    client: JSONClient, free_member: Member
) -> None:
    (own,), (theirs,) = make_items(free_member, 1), make_items(make_member(), 1)
    for number, status in ((theirs, 404), (own, 204), (own, 404), (2**70, 404)):
        assert client.send("DELETE", f"{INBOX}/{number}").status_code == status
    assert InboxItem.objects.get().pk == theirs


def test_inbox_keeps_ninety_days_and_five_hundred(
    client: JSONClient, free_member: Member
) -> None:
    ids = make_items(free_member, 503)
    old = make_items(make_member(), 2)
    InboxItem.objects.filter(pk=old[0]).update(at=NOW - timedelta(days=91))
    # What is beyond is not listed before the job has run.
    assert client.get_json(INBOX, before=ids[3])["results"] == []
    assert purge_inboxes(NOW) == 4
    kept = InboxItem.objects.order_by("id").values_list("pk", flat=True)
    assert list(kept) == [*ids[3:], old[1]]


def test_item_for_nobody_is_not_made() -> None:
    add_items([None, 2**62], "SECURITY")
    assert not InboxItem.objects.exists()


def test_account_that_leaves_takes_its_items_along(
    client: JSONClient, post: Post
) -> None:
    other = make_member()
    theirs = make_post(other)
    assert client.member
    comment(other, post)
    comment(client.member, theirs)
    assert client.send("DELETE", "/api/auth/me").status_code == 204
    assert not InboxItem.objects.exists()
