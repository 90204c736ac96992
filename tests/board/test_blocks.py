"""Blocked members: their content stays in its place, without text (spec 5.9)."""

from typing import Any

import pytest

from accounts.blocks import blocks
from accounts.models import Block, InboxItem, Member
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem
from tests.support.routes import list_routes

pytestmark = pytest.mark.django_db

B = "/api/board"
LIST = "/api/auth/blocks"
WORDS = "secret words"
NAME = "name of the blocked one"
PICTURE = "https://pictures.example/blocked.png"


@pytest.fixture
def author() -> Member:
    return make_member(display_name=NAME, idp_picture=PICTURE)


def path_of(member_id: Any) -> str:
    return f"/api/members/{member_id}/block"


def block(client: JSONClient, member: Member) -> None:
    assert client.send("PUT", path_of(member.pk)).status_code == 204


def make_content(author: Member, reader: Member) -> tuple[Any, Any]:
    """Return a post of each, with a comment of the author below the reader's."""
    html = f"<p>{WORDS}</p>"
    theirs = make_post(author, title=WORDS, content=html, tags=["secret-tag"], ups=1)
    own = make_post(reader, title="own")
    make_comment(author, post=own, content=WORDS)
    make_comment(reader, post=theirs, content="mine")
    return theirs, own


def list_addresses(theirs: Any, own: Any) -> list[str]:
    return [
        f"{B}/posts",
        f"{B}/posts?before=999999",
        f"{B}/posts?keyword=secret",
        f"{B}/posts?tag=secret-tag",
        f"{B}/posts/{theirs.pk}",
        f"{B}/posts/{theirs.pk}/comments",
        f"{B}/posts/{theirs.pk}/recommenders",
        f"{B}/posts/{own.pk}",
        f"{B}/posts/{own.pk}/comments",
        f"{B}/posts/{own.pk}/recommenders",
        f"{B}/my/posts",
        f"{B}/my/comments",
    ]


def without_words(value: Any, author: Member) -> Any:
    """Return what a reader gets who has blocked the author."""
    if isinstance(value, list):
        kept = [each for each in value if not is_author(each, author)]
        return [without_words(each, author) for each in kept]
    if not isinstance(value, dict):
        return value
    changed = {name: without_words(each, author) for name, each in value.items()}
    if "author" in value and value["author"]["id"] == author.pk:
        changed["author"] = {
            "id": author.pk,
            "displayName": "",
            "avatar": None,
            "staff": False,
        }
        changed["blocked"] = True
        for name, empty in (("title", ""), ("content", ""), ("tags", [])):
            if name in changed:
                changed[name] = empty
    if changed.get("title") == WORDS:
        # Of the post that a comment is below.
        changed["title"] = ""
    return changed


def is_author(value: Any, author: Member) -> bool:
    """Return whether the value is one of the recommenders."""
    return isinstance(value, dict) and value.get("displayName") == author.display_name


def test_no_address_of_the_board_has_a_byte_of_theirs(
    client: JSONClient, free_member: Member, author: Member
) -> None:
    content = make_content(author, free_member)
    other = JSONClient(author)
    path = f"{B}/posts/{content[1].pk}/vote"
    assert other.send("POST", path, {"value": "up"}).status_code == 200
    addresses = list_addresses(*content)
    before = {address: client.get_json(address) for address in addresses}
    assert any(WORDS in str(each) for each in before.values())
    block(client, author)
    for address, known in before.items():
        answer = client.send("GET", address)
        assert answer.status_code == 200
        text = answer.content.decode()
        assert not any(each in text for each in (WORDS, NAME, PICTURE, "secret-tag"))
        assert answer.data == without_words(known, author), address
    # One-way: the other one goes on reading and writing.
    assert other.get_json(f"{B}/posts/{content[1].pk}")["title"] == "own"
    answer = other.send("POST", addresses[8], {"content": WORDS})
    assert (answer.status_code, answer.data["blocked"]) == (201, False)
    assert WORDS not in client.get(addresses[8]).content.decode()
    other.send("DELETE", f"{B}/comments/{answer.data['id']}")
    assert client.send("DELETE", path_of(author.pk)).status_code == 204
    assert {address: client.get_json(address) for address in addresses} == before


def test_no_address_of_the_service_has_a_byte_of_their_texts(
    client: JSONClient, free_member: Member, author: Member
) -> None:
    theirs, own = make_content(author, free_member)
    root = make_comment(free_member, post=own)
    body = {"content": WORDS, "parentId": root.pk}
    other = JSONClient(author)
    reply = other.create_json(f"{B}/posts/{own.pk}/comments", body)
    other.create_json(f"{B}/posts/{own.pk}/comments", {"content": WORDS})
    mine = {"content": "mine", "parentId": root.pk, "replyToId": reply["id"]}
    client.create_json(f"{B}/posts/{own.pk}/comments", mine)
    item = InboxItem.objects.filter(member=free_member).earliest("id")
    assert NAME in str(client.get_json("/api/inbox"))
    block(client, author)
    addresses = {
        route.address(
            **{
                name: ids[name]
                for name in route.parameters
                for ids in [
                    {
                        "post_id": post.pk,
                        "comment_id": reply["id"],
                        "item_id": item.pk,
                        "member_id": author.pk,
                    }
                ]
                if name in ids
            }
        )
        for route in list_routes()
        if "GET" in route.methods and route.path.startswith("/api/")
        for post in (theirs, own)
    }
    assert len(addresses) > 80
    for address in addresses:
        text = client.get(address).content.decode(errors="replace")
        assert WORDS not in text, address
        assert "secret-tag" not in text, address
        # Whom one has blocked is listed by name.
        assert NAME not in text or address == LIST, address


def test_pages_stay_one_statement_and_full(
    client: JSONClient, free_member: Member, author: Member
) -> None:
    for _ in range(3):
        make_post(author)
        make_post(free_member)
    block(client, author)
    page = client.get_json(f"{B}/posts", size=4)
    assert (page["count"], len(page["results"])) == (6, 4)
    assert [each["blocked"] for each in page["results"]] == [False, True] * 2


def test_blocks_are_listed_last_first(client: JSONClient, author: Member) -> None:
    second = make_member(display_name="second")
    for member in (author, second, author):
        block(client, member)
    page = client.get_json(LIST)
    assert page["count"] == 2
    assert [each["id"] for each in page["results"]] == [second.pk, author.pk]
    assert page["results"][1].keys() == {"id", "displayName", "avatar", "blockedAt"}
    assert page["results"][1]["avatar"] == PICTURE
    (row,) = client.get_json(LIST, size=1, page=2)["results"]
    assert row["displayName"] == NAME
    assert JSONClient(author).get_json(LIST)["count"] == 0
    for _ in range(2):
        assert client.send("DELETE", path_of(second.pk)).status_code == 204
    assert client.get_json(LIST)["count"] == 1


def test_who_cannot_be_blocked(
    client: JSONClient, free_member: Member, administrator: Member
) -> None:
    for member in (free_member, administrator):
        assert_invalid(client.send("PUT", path_of(member.pk)), "memberId")
    for missing in (10**9, 2**63 - 1, 2**63, 10**30):
        assert_problem(client.send("PUT", path_of(missing)), 404, "NOT_FOUND")
        assert client.send("DELETE", path_of(missing)).status_code == 204
    for wrong in ("abc", "-1", "1.5"):
        assert_problem(client.send("PUT", path_of(wrong)), 404, "NOT_FOUND")
    assert not Block.objects.exists()


def test_who_becomes_staff_is_blocked_by_nobody(
    client: JSONClient, author: Member, administrator: Member
) -> None:
    block(client, author)
    path = f"/api/admin/members/{author.pk}/role"
    answer = JSONClient(administrator).send("PUT", path, {"role": "MODERATOR"})
    assert answer.status_code == 200, answer.content
    assert client.get_json("/api/auth/blocks")["results"] == []


def test_a_member_blocks_so_many(
    client: JSONClient, author: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCKS", 1)
    block(client, author)
    block(client, author)
    path = path_of(make_member().pk)
    assert_problem(client.send("PUT", path), 409, "LIMIT_REACHED")
    client.send("DELETE", path_of(author.pk))
    assert client.send("PUT", path).status_code == 204
