"""GET /api/members/{id}/avatar: profile images by cacheable URLs."""

import base64
import hashlib
from typing import Any

import pytest

from accounts.members.avatar_urls import avatar_url
from accounts.models import Member
from board.models import Post
from tests.support.clients import JSONClient
from tests.support.images import draw

POSTS = "/api/board/posts"
PICTURE = "https://pictures.example/a.png"
KINDS = ["png", "jpeg", "webp", "gif"]


def data_url(kind: str = "png") -> str:
    return f"data:image/{kind};base64,{base64.b64encode(draw(kind)).decode()}"


def set_image(member: Member, image: str) -> None:
    path, body = "/api/auth/profile-image", {"profileImage": image}
    response = JSONClient(member).send("PUT", path, body)
    assert response.status_code == 200, response.content


def read_version(member: Member) -> str | None:
    member.refresh_from_db()
    version: str | None = member.avatar_version
    return version


def author_of_a_post(member: Member) -> Any:
    # The same post twice would be refused.
    title = f"Rice {Post.objects.count()}"
    body = {"title": title, "category": "tips", "content": "<p>Rice</p>"}
    return JSONClient(member).send("POST", POSTS, body).data["author"]


def test_avatar_is_the_profile_image_else_the_providers_else_none() -> None:
    assert avatar_url(7, "abc", PICTURE) == "/api/members/7/avatar?v=abc"
    assert avatar_url(7, None, PICTURE) == PICTURE
    assert avatar_url(7, None, "") is None


def test_version_follows_the_image(free_member: Member) -> None:
    assert read_version(free_member) is None
    set_image(free_member, data_url())
    first = read_version(free_member)
    assert first == hashlib.md5(data_url().encode()).hexdigest()
    set_image(free_member, data_url("jpeg"))
    assert read_version(free_member) not in {first, None}
    set_image(free_member, "")
    assert read_version(free_member) is None


def test_author_of_a_post_has_the_address_of_the_avatar(free_member: Member) -> None:
    assert author_of_a_post(free_member)["avatar"] is None
    Member.objects.filter(pk=free_member.pk).update(idp_picture=PICTURE)
    assert author_of_a_post(free_member)["avatar"] == PICTURE
    set_image(free_member, data_url())
    address = author_of_a_post(free_member)["avatar"]
    answer = JSONClient().get(address)
    assert answer.content == draw()
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("kind", KINDS)
def test_image_is_answered_as_what_it_is_and_runs_nothing(
    free_member: Member, kind: str
) -> None:
    set_image(free_member, data_url(kind))
    answer = JSONClient().get(f"/api/members/{free_member.pk}/avatar")
    assert answer.content == draw(kind)
    assert answer.headers["Content-Type"] == f"image/{kind}"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert not answer.cookies


def test_only_the_present_version_is_cached_for_good(free_member: Member) -> None:
    set_image(free_member, data_url())
    path = f"/api/members/{free_member.pk}/avatar"
    present = read_version(free_member)
    caches = [
        JSONClient().get(path, {"v": version} if version else {})
        for version in (present, "0" * 32, None)
    ]
    assert [answer.headers["Cache-Control"] for answer in caches] == [
        "public, max-age=31536000, immutable",
        "public, max-age=60",
        "public, max-age=60",
    ]


def test_same_avatar_again_is_304(free_member: Member) -> None:
    set_image(free_member, data_url())
    path = f"/api/members/{free_member.pk}/avatar"
    etag = JSONClient().get(path).headers["ETag"]
    assert JSONClient().get(path, HTTP_IF_NONE_MATCH=etag).status_code == 304
    assert JSONClient().head(path, HTTP_IF_NONE_MATCH=etag).status_code == 304
    set_image(free_member, data_url("jpeg"))
    assert JSONClient().get(path, HTTP_IF_NONE_MATCH=etag).status_code == 200


@pytest.mark.parametrize("member_id", ["1", "9" * 30, "0"])
def test_unknown_member_is_404(anonymous: JSONClient, member_id: str) -> None:
    response = anonymous.send("GET", f"/api/members/{member_id}/avatar")
    assert (response.status_code, response.data["code"]) == (404, "NOT_FOUND")
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("stored", ["", "data:image/png;base64,A", "no data URL"])
def test_member_without_a_usable_image_is_404(
    free_member: Member, anonymous: JSONClient, stored: str
) -> None:
    Member.objects.filter(pk=free_member.pk).update(profile_image=stored)
    path = f"/api/members/{free_member.pk}/avatar"
    assert anonymous.send("GET", path).status_code == 404
