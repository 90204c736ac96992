"""Moderation in the Django admin: find, hide, pin and delete posts and comments."""

import html
from typing import Any

import pytest

from accounts.models import AuditLogEntry, InboxItem, Member
from accounts.security.audit_log import CHANGE, DELETION
from board import admin
from board.content import build_search_text, sanitize_html
from board.models import (
    Comment,
    Image,
    ModerationCase,
    Post,
    PostCount,
    PostImage,
)
from tests.support.admin_site import (
    COMMENTS,
    IMAGES,
    POSTS,
    get_page,
    run_action_on,
)
from tests.support.board import find_counter_drift
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_post


def write(
    member: Member, title: str, content: str = "<p>text</p>", **fields: Any
) -> Post:
    content = sanitize_html(content)
    search_text = build_search_text(title, content)
    return make_post(
        member, title=title, content=content, search_text=search_text, **fields
    )


def titles_in(page: str, *posts: Post) -> list[str]:
    return [post.title for post in posts if f">{post.title}</a>" in page]


def log_of(row: Post | Comment | Image) -> list[tuple[str, str, str]]:
    entries = AuditLogEntry.objects.filter(target_id=str(row.pk)).order_by("id")
    return list(entries.values_list("action", "target_label", "text"))


def shown_image(*posts: Post) -> Image:
    image = Image.objects.create(
        member=posts[0].member,
        content=b"x",
        content_type="image/png",
        width=80,
        height=60,
        size=2048,
        unused_since=None,
    )
    for post in posts:
        PostImage.objects.create(post=post, image=image)
    return image


def test_posts_are_found_by_words_and_by_author(
    browser: JSONClient, free_member: Member, other_member: Member
) -> None:
    rice = write(free_member, "Cheap rice", "<p>쌀이 <b>싸</b>다</p>")
    bread = write(other_member, "Bread")
    for words in ("rice", "CHEAP RICE", "쌀이 싸다", "RI", "쌀이"):
        assert titles_in(get_page(browser, POSTS, q=words), rice, bread) == [rice.title]
    author = f"@{other_member.login_id.upper()}"
    assert titles_in(get_page(browser, POSTS, q=author), rice, bread) == [bread.title]
    for words in ("@nobody", "100%", "_", "rice'"):
        assert titles_in(get_page(browser, POSTS, q=words), bread) == []


@pytest.mark.parametrize(
    "query",
    [
        {"category__exact": "tips"},
        {"is_notice__exact": 1},
        {"is_hidden__exact": 1},
        {"created_at__gte": "2026-11-01 00:00:00+09:00"},
    ],
)
def test_posts_are_filtered(
    browser: JSONClient, free_member: Member, query: dict[str, Any]
) -> None:
    other = write(free_member, "Other", created_at="2026-01-01T00:00:00Z")
    wanted = write(
        free_member, "Wanted", category="tips", is_notice=True, is_hidden=True
    )
    assert titles_in(get_page(browser, POSTS, **query), wanted, other) == ["Wanted"]


def test_comments_are_found_by_words_and_by_author(
    browser: JSONClient,
    free_member: Member,
    other_member: Member,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = make_comment(free_member, content="Very old rice")
    new = make_comment(other_member, content="New RICE")
    page = get_page(browser, COMMENTS, q="rice")
    assert old.content in page
    assert new.content in page
    assert old.content not in get_page(browser, COMMENTS, q=f"@{other_member.login_id}")
    monkeypatch.setattr(admin, "MAX_SEARCHED_COMMENTS", 1)
    page = get_page(browser, COMMENTS, q="rice")
    assert old.content not in page
    assert new.content in page


def test_content_is_shown_in_a_frame_that_runs_nothing(
    browser: JSONClient, free_member: Member
) -> None:
    post = make_post(free_member, content='<p>a</p><script>alert("1")</script>')
    page = get_page(browser, f"{POSTS}{post.pk}/change/")
    assert "<iframe sandbox title" in page
    assert "<script>alert" not in page
    assert html.escape(post.content) in page


def test_comment_is_shown_as_text(browser: JSONClient, free_member: Member) -> None:
    comment = make_comment(free_member, content="<script>alert(1)</script>")
    for path in (COMMENTS, f"{COMMENTS}{comment.pk}/change/"):
        page = get_page(browser, path)
        assert "<script>alert(1)" not in page
        assert "&lt;script&gt;alert(1)" in page


# The form of the question, filled in.
SURE = {"confirmed": "yes", "reason": "SPAM"}


@pytest.mark.parametrize("reason", [None, "", "BORING"])
@pytest.mark.parametrize("action", ["hide", "delete"])
def test_staff_say_why(
    browser: JSONClient, free_member: Member, action: str, reason: str | None
) -> None:
    post = make_post(free_member)
    sent = {} if reason is None else {"reason": reason}
    page = run_action_on(browser, POSTS, action, post, confirmed="yes", **sent)
    assert page.status_code == 200
    assert 'aria-invalid="true"' in page.content.decode()
    assert not Post.objects.get().is_hidden
    assert run_action_on(browser, POSTS, action, post, **SURE).status_code == 302
    assert ModerationCase.objects.get().reason == "SPAM"
    item = InboxItem.objects.get(member=free_member)
    assert item.kind == "CONTENT_HIDDEN"


def test_hidden_post_is_seen_by_nobody_until_it_is_shown_again(
    browser: JSONClient, free_member: Member
) -> None:
    post = make_post(free_member, category="tips")
    path = f"/api/board/posts/{post.pk}"
    author = JSONClient(free_member)
    assert run_action_on(browser, POSTS, "hide", post, **SURE).status_code == 302
    assert author.send("GET", path).status_code == 404
    assert PostCount.objects.get(category="tips").posts == 0
    assert run_action_on(browser, POSTS, "show", post).status_code == 302
    assert author.send("GET", path).status_code == 200
    assert PostCount.objects.get(category="tips").posts == 1
    name = f"post {post.pk}"
    first, second = ModerationCase.objects.order_by("id")
    assert log_of(post) == [
        (CHANGE, name, f"Hidden. Case {first.pk}."),
        (CHANGE, name, f"Shown again. Case {second.pk}."),
    ]


def test_what_is_hidden_already_is_not_logged_again(
    browser: JSONClient, free_member: Member
) -> None:
    post = make_post(free_member, is_hidden=True)
    run_action_on(browser, POSTS, "hide", post, **SURE)
    assert log_of(post) == []


def test_notice_is_made_and_ended(browser: JSONClient, free_member: Member) -> None:
    post = make_post(free_member)
    for name, flag in (("notice", True), ("unnotice", False)):
        run_action_on(browser, POSTS, name, post)
        post.refresh_from_db()
        assert post.is_notice is flag
    assert [text for _, _, text in log_of(post)] == [
        "Marked as notice.",
        "Unmarked as notice.",
    ]


def test_posts_are_deleted_after_a_question(
    browser: JSONClient, free_member: Member, other_member: Member, settings: Any
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    post, kept = make_post(free_member, ups=2), make_post(free_member)
    make_comment(other_member, post=post, ups=1)
    shown_image(post)
    question = run_action_on(browser, POSTS, "delete", post)
    assert question.status_code == 200
    assert "cannot be undone" in question.content.decode()
    assert Post.objects.count() == 2
    done = run_action_on(browser, POSTS, "delete", post, **SURE)
    assert done.status_code == 302
    assert Post.objects.get() == kept
    assert not Comment.objects.exists()
    assert not Image.objects.exists()
    case = ModerationCase.objects.get()
    name = f"post {post.pk}"
    assert log_of(post) == [(DELETION, name, f"Deleted. Case {case.pk}.")]
    assert find_counter_drift() == []


def test_comments_are_hidden_and_deleted_and_counted(
    browser: JSONClient, free_member: Member
) -> None:
    comment = make_comment(free_member, ups=2)
    post = comment.post
    run_action_on(browser, COMMENTS, "hide", comment, **SURE)
    post.refresh_from_db()
    assert post.comment_count == 0
    run_action_on(browser, COMMENTS, "show", comment)
    post.refresh_from_db()
    assert post.comment_count == 1
    run_action_on(browser, COMMENTS, "delete", comment, **SURE)
    assert not Comment.objects.filter(is_hidden=False).exists()
    assert find_counter_drift() == []
    assert [flag for flag, _, _ in log_of(comment)] == [CHANGE, CHANGE, DELETION]


def test_images_are_listed_with_the_posts_that_show_them(
    browser: JSONClient, free_member: Member, other_member: Member
) -> None:
    post, other = make_post(free_member), make_post(free_member)
    image, foreign = shown_image(post, other), shown_image(make_post(other_member))
    unused = Image.objects.create(
        member=free_member, content=b"x", width=1, height=1, size=1
    )
    page = get_page(browser, IMAGES)
    for each in (image, foreign, unused):
        assert f'src="/api/images/{each.pk}"' in page
    for author in (free_member, other_member):
        assert f">{author.login_id}<" in page
    assert f"{POSTS}{post.pk}/change/" in page
    assert f"{POSTS}{other.pk}/change/" in page
    assert "2.0\xa0KB" in page
    detail = get_page(browser, f"{IMAGES}{image.pk}/change/")
    assert f"{POSTS}{other.pk}/change/" in detail
    for words in (f"@{free_member.login_id}", f"https://x/api/images/{image.pk}"):
        found = get_page(browser, IMAGES, q=words)
        assert f"/api/images/{image.pk}" in found
        assert f"/api/images/{foreign.pk}" not in found
    assert 'src="/api/images/' not in get_page(browser, IMAGES, q="@nobody")
    assert browser.get(IMAGES, {"q": "rice"}).status_code == 200


def test_images_are_deleted_after_a_question(
    browser: JSONClient, anonymous: JSONClient, free_member: Member
) -> None:
    post = make_post(free_member)
    image, kept = shown_image(post), shown_image(post)
    question = run_action_on(browser, IMAGES, "delete", image)
    assert question.status_code == 200
    assert "80 × 60, 2.0\xa0KB" in question.content.decode()
    assert Image.objects.count() == 2
    done = run_action_on(browser, IMAGES, "delete", image, confirmed="yes")
    assert done.status_code == 302
    assert anonymous.get(f"/api/images/{image.pk}").status_code == 404
    assert anonymous.get(f"/api/images/{kept.pk}").status_code == 200
    assert log_of(image) == [(DELETION, f"image {image.pk}", "")]
    assert Post.objects.get() == post


def test_crafted_ids_of_images_are_refused(browser: JSONClient) -> None:
    data = {"action": "delete", "_selected_action": ["1' OR 1=1"]}
    assert browser.post(IMAGES, data).status_code == 400


def test_at_most_a_hundred_at_once(
    browser: JSONClient, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin.PostAdmin, "max_batch_size", 2)
    posts = [make_post(free_member) for _ in range(3)]
    run_action_on(browser, POSTS, "hide", *posts, **SURE)
    assert not Post.objects.filter(is_hidden=True).exists()
    run_action_on(browser, POSTS, "hide", *posts[:2], **SURE)
    assert Post.objects.filter(is_hidden=True).count() == 2


@pytest.mark.parametrize("path", ["add/", "1/delete/"])
def test_nothing_is_added_or_changed_by_hand(browser: JSONClient, path: str) -> None:
    for model in (POSTS, COMMENTS, IMAGES):
        assert browser.get(f"{model}{path}").status_code in {302, 403}
