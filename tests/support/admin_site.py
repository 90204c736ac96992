"""Pages of Django admin, a browser that is logged in, and a row for each page."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import BytesIO
from typing import Any

from django.contrib import admin
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask
from PIL import Image as Picture

from accounts.models import (
    ApplicationSetting,
    AuthSession,
    LegalDocument,
    Member,
    PointHistory,
)
from accounts.security.audit_log import ADDITION, CHANGE, DELETION, log_admin_action
from board.models import Decision, Image, Post, PostImage, Report
from core.jobs.models import JobRun
from ledger.models import DefaultCategory
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.purchases import make_purchase, make_store_notification

MEMBERS = "/admin/accounts/member/"
TREE = "/admin/ledger/defaultcategory/"
SETTINGS = "/admin/accounts/applicationsetting/"
RUNS = "/admin/jobs/jobrun/"
TASKS = "/admin/django_celery_beat/periodictask/"
LOG = "/admin/accounts/auditlogentry/"
POSTS = "/admin/board/post/"
COMMENTS = "/admin/board/comment/"
IMAGES = "/admin/board/image/"


def logged_in_browser(member: Member) -> JSONClient:
    """Return a browser in which the member is logged in."""
    browser = JSONClient()
    browser.cookies["sessionid"] = JSONClient(member).token
    return browser


def get_page(browser: JSONClient, path: str, **query: Any) -> str:
    response = browser.get(path, query)
    assert response.status_code == 200, (response.status_code, path)
    return response.content.decode()


def run_action(browser: JSONClient, name: str, *members: Member, **more: Any) -> Any:
    return run_action_on(browser, MEMBERS, name, *members, **more)


def run_action_on(
    browser: JSONClient, path: str, name: str, *rows: Any, **more: Any
) -> Any:
    """Return the answer to an action of the list at this path, on these rows."""
    data = {"action": name, "_selected_action": [row.pk for row in rows]} | more
    return browser.post(path, data)


@contextmanager
def record_statements() -> Iterator[list[str]]:
    """Yield the statements of the block, without quotes and line breaks."""
    statements: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        statements.append(" ".join(sql.replace('"', "").split()))
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        yield statements


def make_image(post: Post) -> Image:
    content = BytesIO()
    Picture.new("RGB", (80, 60), "teal").save(content, "PNG")
    image = Image.objects.create(
        member=post.member,
        content=content.getvalue(),
        content_type="image/png",
        width=80,
        height=60,
        size=2048,
        content_hash="1",
        unused_since=None,
    )
    PostImage.objects.create(post=post, image=image)
    return image


def make_rows(administrator: Member, *, login_id: str = "m1") -> Member:
    """Make rows in every list that belong to a new member; return the member."""
    now = timezone.now()
    member = make_member(
        login_id=login_id,
        display_name="김민지",
        email=f"{login_id}@example.com",
        plan="PREMIUM",
        plan_product="premium_yearly",
        plan_expires_at=now + timedelta(9),
        plan_auto_renew=True,
    )
    post = make_post(member, title="장보기", content="<p>내용</p>", tags=["절약"])
    post.is_hidden = post.is_notice = True
    post.save(update_fields=["is_hidden", "is_notice"])
    comment = make_comment(member, post=post, content="고마워요", is_hidden=True)
    image = make_image(post)
    make_purchase(member, f"GPA.{login_id}")
    for outcome in ("REFRESHED", "NO_OWNER"):
        make_store_notification(
            kind="4",
            outcome=outcome,
            processed_at=None if outcome == "NO_OWNER" else now,
        )
    for state in ("DONE", "FAILED", "SKIPPED"):
        JobRun.objects.create(
            job="expire_plans", state=state, started_at=now, ended_at=now, count=1
        )
    AuthSession.objects.create(
        key_hash=f"{member.pk:064}",
        member=member,
        created_at=now,
        last_seen_at=now,
        expires_at=now + timedelta(1),
        ip_address="203.0.113.5",
        user_agent="4711",
    )
    PointHistory.objects.create(member=member, points=10, reason="POST")
    ApplicationSetting.objects.get_or_create(name="signup_enabled")
    interval, _ = IntervalSchedule.objects.get_or_create(every=7200, period="seconds")
    PeriodicTask.objects.get_or_create(
        name="expire_plans", defaults={"task": "t", "interval": interval}
    )
    case = make_case(post, reporter=administrator, reason="ABUSE")
    Decision.objects.create(case=case, action="HIDE", reason="SPAM", note="보류")
    Report.objects.filter(case=case).update(note="욕설이에요")
    LegalDocument.objects.create(
        kind="TERMS",
        version=f"{member.pk}",
        locale="ko",
        title="이용 약관",
        body="서로 존중해요.",
        effective_at=now,
        required=False,
    )
    log_admin_action(administrator, member, CHANGE, "Status SUSPENDED.")
    log_admin_action(administrator, post, CHANGE, "Hidden.")
    log_admin_action(administrator, comment, DELETION)
    log_admin_action(administrator, image, ADDITION)
    return member


def use_korean_categories() -> None:
    """Leave one default category, without an English name."""
    DefaultCategory.objects.exclude(parent=None).delete()
    DefaultCategory.objects.all().delete()
    DefaultCategory.objects.create(name="식비", type="expense", sort_order=1)


def list_pages() -> list[str]:
    """Return the addresses of all pages of the admin for the rows there are."""
    pages = [
        reverse("admin:index"),
        reverse("admin:password_change"),
        reverse("admin:ledger_defaultcategory_add"),
        reverse("admin:accounts_legaldocument_add"),
    ]
    labels = sorted({model._meta.app_label for model in admin.site._registry})
    pages += [reverse("admin:app_list", args=[label]) for label in labels]
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pages.append(reverse(f"{name}_changelist"))
        row = model._default_manager.order_by("-pk").first()
        if row is not None:
            pages.append(reverse(f"{name}_change", args=[row.pk]))
    post = Post.objects.order_by("-pk").first()
    if post is not None:
        pages.append(reverse("admin:board_post_author", args=[post.member_id]))
    category = DefaultCategory.objects.order_by("-pk").first()
    if category is not None:
        pages.append(reverse("admin:ledger_defaultcategory_delete", args=[category.pk]))
    return pages
