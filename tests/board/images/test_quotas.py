"""Limits of uploads: in an hour, by number and by size."""

import io
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member, RateLimit
from board import images
from board.images import MAX_IMAGES, MAX_TOTAL_BYTES, UPLOAD_LIMIT
from board.models import Image
from core.errors import InvalidImageError
from core.image_sandbox import ALLOWED_FORMATS, encode_post_image
from tests.support.board import refusal_of, upload
from tests.support.clients import JSONClient
from tests.support.images import draw


def make_image(member: Member, **fields: Any) -> Image:
    defaults = {"content": b"x", "content_type": "image/png", "width": 1, "height": 1}
    return Image.objects.create(
        member=member, **defaults | {"size": 1, "content_hash": "d"} | fields
    )


def test_hundred_uploads_an_hour(client: JSONClient) -> None:
    content = draw(size=(4, 4))
    assert upload(client, content).status_code == 201
    own = RateLimit.objects.get(key__startswith="images")
    own.attempts *= 99
    own.save()
    assert upload(client, content).status_code == 201
    refused = upload(client, content)
    assert refusal_of(refused) == (429, "RATE_LIMITED")
    assert 3_500 < int(refused.headers["Retry-After"]) <= 3_600
    assert Image.objects.count() == 2
    assert UPLOAD_LIMIT.max_attempts == 100


def test_refused_images_count_as_attempts_only(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    fewer = replace(UPLOAD_LIMIT, max_attempts=3)
    monkeypatch.setattr(images, "UPLOAD_LIMIT", fewer)
    for _ in range(4):
        assert upload(client, b"no picture").status_code == 400
    assert upload(client, draw()).status_code == 201
    for limit in RateLimit.objects.filter(key__startswith="image-attempts"):
        limit.attempts *= 60
        limit.save()
    assert refusal_of(upload(client, draw())) == (429, "RATE_LIMITED")


def test_images_are_limited_by_number(
    client: JSONClient, free_member: Member, other_member: Member
) -> None:
    for number in range(MAX_IMAGES - 1):
        make_image(free_member, content_hash=str(number))
    assert upload(client, draw()).status_code == 201
    refused = upload(client, draw())
    assert refusal_of(refused) == (400, "VALIDATION_ERROR")
    assert refused.data["errors"][0]["code"] == "quota"
    assert upload(JSONClient(other_member), draw()).status_code == 201


def test_images_are_limited_by_size(client: JSONClient, free_member: Member) -> None:
    made = encode_post_image(draw(), ALLOWED_FORMATS)[0]
    kept = make_image(free_member, size=MAX_TOTAL_BYTES - len(made) + 1)
    refused = upload(client, draw())
    assert refusal_of(refused) == (400, "VALIDATION_ERROR")
    assert "50 MB" in refused.data["errors"][0]["detail"]
    Image.objects.filter(pk=kept.pk).update(size=kept.size - 1)
    assert upload(client, draw()).status_code == 201


def test_upload_of_a_deleted_member_fails(free_member: Member) -> None:
    gone = Member.objects.get(pk=free_member.pk)
    free_member.delete()
    with pytest.raises(Member.DoesNotExist):
        images.create_image(gone, io.BytesIO(draw()), timezone.now())
    assert timedelta(hours=1) == UPLOAD_LIMIT.window


def test_refused_image_leaves_nothing(free_member: Member) -> None:
    with pytest.raises(InvalidImageError):
        images.create_image(free_member, io.BytesIO(b""), timezone.now())
    assert not Image.objects.exists()
    assert RateLimit.objects.get(key__startswith="images:").attempts == []
