"""Images are kept while a post shows them, and a day longer."""

from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler

from accounts.models import Member
from board.images import purge_unused_images, sync_post_images, unlink_images
from board.models import Image, Post, PostImage
from board.tasks import purge_images
from config.celery import app
from tests.support.clients import JSONClient
from tests.support.factories import make_post

POSTS = "/api/board/posts"
NOW = datetime.fromisoformat("2026-11-21T12:00:00+09:00")
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def make_image(member: Member, **fields: Any) -> Image:
    defaults = {"content": b"x", "content_type": "image/png", "width": 1, "height": 1}
    defaults |= {"size": 1, "content_hash": "d", "created_at": NOW, "unused_since": NOW}
    return Image.objects.create(member=member, **defaults | fields)


def show(*shown: Image) -> str:
    return "".join(f'<img src="/api/images/{image.pk}">' for image in shown)


def unused_since(image: Image) -> datetime | None:
    return Image.objects.get(pk=image.pk).unused_since


def linked() -> set[tuple[int, Any]]:
    return set(PostImage.objects.values_list("post_id", "image_id"))


def test_shown_image_is_linked_and_in_use(free_member: Member) -> None:
    image, other = make_image(free_member), make_image(free_member)
    post = make_post(free_member)
    sync_post_images(post.pk, show(image, image), NOW)
    assert linked() == {(post.pk, image.pk)}
    assert unused_since(image) is None
    assert unused_since(other) == NOW


def test_image_is_unused_once_the_last_post_drops_it(free_member: Member) -> None:
    image, kept = make_image(free_member), make_image(free_member)
    first, second = make_post(free_member), make_post(free_member)
    sync_post_images(first.pk, show(image, kept), NOW)
    sync_post_images(second.pk, show(image), NOW)
    sync_post_images(first.pk, show(kept), NOW + MINUTE)
    assert unused_since(image) is None
    sync_post_images(second.pk, "", NOW + 2 * MINUTE)
    assert unused_since(image) == NOW + 2 * MINUTE
    sync_post_images(second.pk, "", NOW + 3 * MINUTE)
    assert unused_since(image) == NOW + 2 * MINUTE
    sync_post_images(second.pk, show(image), NOW + 4 * MINUTE)
    assert unused_since(image) is None
    assert linked() == {(first.pk, kept.pk), (second.pk, image.pk)}


def test_several_posts_are_unlinked_at_once(free_member: Member) -> None:
    image, other = make_image(free_member), make_image(free_member)
    posts = [make_post(free_member) for _ in range(3)]
    for post in posts:
        sync_post_images(post.pk, show(image, other), NOW)
    unlink_images([post.pk for post in posts[:2]], NOW + MINUTE)
    assert linked() == {(posts[2].pk, image.pk), (posts[2].pk, other.pk)}
    unlink_images([posts[2].pk], NOW + MINUTE)
    assert linked() == set()
    assert unused_since(image) == unused_since(other) == NOW + MINUTE


def test_image_of_another_member_may_be_shown(
    free_member: Member, other_member: Member
) -> None:
    image = make_image(other_member)
    sync_post_images(make_post(free_member).pk, show(image), NOW)
    assert unused_since(image) is None


def test_deleted_image_is_not_linked(free_member: Member) -> None:
    image = make_image(free_member)
    content = show(image)
    image.delete()
    sync_post_images(make_post(free_member).pk, content, NOW)
    assert linked() == set()


def test_post_without_images_takes_one_statement(
    free_member: Member, django_assert_num_queries: Any
) -> None:
    post = make_post(free_member)
    with django_assert_num_queries(1):
        sync_post_images(post.pk, "<p>text</p>", NOW)


def test_api_links_and_unlinks(free_member: Member) -> None:
    client = JSONClient(free_member)
    image, other = make_image(free_member), make_image(free_member)
    body = {"title": "Rice", "category": "tips", "content": show(image)}
    post = client.send("POST", POSTS, body).data
    assert f"/api/images/{image.pk}" in post["content"]
    assert unused_since(image) is None
    path = f"{POSTS}/{post['id']}"
    assert client.send("PATCH", path, {"content": show(other)}).status_code == 200
    assert unused_since(image) is not None
    assert unused_since(other) is None
    assert client.send("PATCH", path, {"title": "Bread"}).status_code == 200
    assert unused_since(other) is None
    assert client.send("DELETE", path).status_code == 204
    assert not Image.objects.filter(pk=other.pk).exists()
    assert linked() == set()


@pytest.mark.parametrize(
    ("is_author", "statuses"), [(True, [404, 200, 200]), (False, [404, 200, 404])]
)
def test_deleted_post_takes_own_images_or_all_along(
    is_author: bool,
    statuses: list[int],
    anonymous: JSONClient,
    administrator: Member,
    free_member: Member,
    other_member: Member,
    settings: Any,
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    own, elsewhere = make_image(free_member), make_image(free_member)
    draft_of_another = make_image(other_member)
    post, later = make_post(free_member), make_post(other_member)
    sync_post_images(post.pk, show(own, elsewhere, draft_of_another), NOW)
    sync_post_images(later.pk, show(elsewhere), NOW)
    client = JSONClient(free_member if is_author else administrator)
    assert client.send("DELETE", f"{POSTS}/{post.pk}").status_code == 204
    images = (own, elsewhere, draft_of_another)
    found = [anonymous.get(f"/api/images/{image.pk}").status_code for image in images]
    assert found == statuses
    assert unused_since(elsewhere) is None
    assert not is_author or unused_since(draft_of_another) is not None
    assert linked() == {(later.pk, elsewhere.pk)}


def test_purge_deletes_what_no_post_has_shown_for_a_day(free_member: Member) -> None:
    old = make_image(free_member, unused_since=NOW - DAY)
    fresh = make_image(free_member, unused_since=NOW - DAY + MINUTE)
    used = make_image(free_member, unused_since=NOW - 9 * DAY)
    sync_post_images(make_post(free_member).pk, show(used), NOW)
    assert purge_unused_images(NOW) == 1
    assert set(Image.objects.all()) == {fresh, used}
    assert purge_unused_images(NOW) == 0
    assert not Image.objects.filter(pk=old.pk).exists()


def test_image_that_a_post_shows_is_never_purged(free_member: Member) -> None:
    image = make_image(free_member)
    post = make_post(free_member)
    sync_post_images(post.pk, show(image), NOW)
    Image.objects.update(unused_since=NOW - 9 * DAY)
    assert purge_unused_images(NOW) == 0
    assert unused_since(image) is None


def test_orphan_is_purged_a_day_later(free_member: Member) -> None:
    image = make_image(free_member)
    post = make_post(free_member)
    sync_post_images(post.pk, show(image), NOW)
    PostImage.objects.all()._raw_delete("default")
    Post.objects.all()._raw_delete("default")
    assert purge_unused_images(NOW) == 0
    assert unused_since(image) == NOW
    assert purge_unused_images(NOW + DAY) == 1


def test_many_images_are_purged_in_batches(
    free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("board.images.PURGE_BATCH_SIZE", 3)
    for _ in range(10):
        make_image(free_member, unused_since=NOW - DAY)
    for _ in range(7):
        make_image(free_member, unused_since=None)
    assert purge_unused_images(NOW) == 10
    assert Image.objects.filter(unused_since=NOW).count() == 7


def test_command_prints_its_count(free_member: Member) -> None:
    make_image(free_member, unused_since=timezone.now() - 2 * DAY)
    out = StringIO()
    call_command("purge_images", stdout=out)
    assert out.getvalue() == "1 images purged.\n"


@pytest.mark.django_db(transaction=True)
def test_job_purges_daily(free_member: Member) -> None:
    DatabaseScheduler(app=app, lazy=False)
    stored = PeriodicTask.objects.get(name="purge_images")
    assert stored.interval.schedule.run_every == DAY
    make_image(free_member, unused_since=timezone.now() - 2 * DAY)
    purge_images()
    assert not Image.objects.exists()
