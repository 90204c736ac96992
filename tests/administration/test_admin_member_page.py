"""The page of a member in Django admin: each deed with its question (spec 7.14)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import (
    AuditLogEntry,
    AuthSession,
    CodeRequest,
    Member,
    SecurityLogEntry,
)
from tests.support.admin_site import MEMBERS, get_page, logged_in_browser, run_action
from tests.support.clients import JSONClient
from tests.support.factories import count_rows_of, make_entry, make_member, make_wallet
from tests.support.second_factors import give_totp

SOON = {"until": "2099-01-01T09:00", "reason": "insults"}
# Name of the deed, what the form has, and the text of the log.
DEEDS: list[tuple[str, dict[str, str], str]] = [
    ("password-reset", {}, "Mail for a new password."),
    ("factors", {}, "Second factor ended."),
    ("sessions", {}, "Sessions ended."),
    ("silence", SOON, "Silenced."),
    ("end-silence", {}, "Silence ended."),
    ("suspension", SOON, "Status SUSPENDED."),
    ("deletion", {"login_id": "minji"}, ""),
]
each_deed = pytest.mark.parametrize(("name", "form", "text"), DEEDS)


def url(member: Member, name: str) -> str:
    return f"{MEMBERS}{member.pk}/deeds/{name}/"


def page_url(member: Member) -> str:
    return f"{MEMBERS}{member.pk}/change/"


def make_minji(**fields: Any) -> Member:
    """Make a member to whom each deed can be done."""
    member = make_member(
        login_id="minji",
        email="minji@example.com",
        verified_email="minji@example.com",
        silenced_until=timezone.now() + timedelta(days=1),
        silence_reason="shouting",
        **fields,
    )
    give_totp(member)
    JSONClient(member)
    return member


def confirm(browser: JSONClient, member: Member, name: str, **form: str) -> Any:
    return browser.post(url(member, name), form | {"confirmed": "yes"})


def is_done(member_id: int, name: str) -> bool:
    """Return whether the deed has had its effect."""
    member = Member.objects.filter(pk=member_id).first()
    if name == "deletion" or member is None:
        return member is None
    now = timezone.now()
    return {
        "password-reset": CodeRequest.objects.exists(),
        "factors": not member.has_second_factor,
        "sessions": not AuthSession.objects.filter(member=member).exists(),
        "silence": member.silence_reason == "insults" and member.is_silenced(now),
        "end-silence": not member.is_silenced(now),
        "suspension": member.suspension_reason == "insults" and not member.is_active,
    }[name]


@each_deed
def test_deed_is_offered_asked_done_and_logged(
    browser: JSONClient,
    administrator: Member,
    mail_folder: Any,
    name: str,
    form: dict[str, str],
    text: str,
) -> None:
    member = make_minji()
    assert url(member, name) in get_page(browser, page_url(member))
    question = get_page(browser, url(member, name))
    assert "minji" in question
    assert not is_done(member.pk, name)
    # Without the confirmation of the question, nothing is done.
    assert browser.post(url(member, name), form).status_code == 200
    assert not is_done(member.pk, name)
    assert not AuditLogEntry.objects.exists()
    answer = confirm(browser, member, name, **form)
    is_gone = name == "deletion"
    assert answer.headers["Location"] == (MEMBERS if is_gone else page_url(member))
    assert is_done(member.pk, name)
    entry = AuditLogEntry.objects.get()
    assert (entry.actor_id, entry.target_id) == (administrator.pk, str(member.pk))
    assert (entry.text, entry.action == "DELETION") == (text, is_gone)
    assert "minji: " in get_page(browser, MEMBERS)


@each_deed
@pytest.mark.parametrize("role", ["MEMBER", "MODERATOR"])
def test_nobody_else_does_it(
    mail_folder: Any, role: str, name: str, form: dict[str, str], text: str
) -> None:
    member = make_minji()
    stranger = logged_in_browser(make_member(role=role))
    for answer in (
        stranger.get(url(member, name)),
        confirm(stranger, member, name, **form),
    ):
        assert answer.status_code in {302, 403}
        assert answer.headers.get("Location", "/admin/login").startswith("/admin/login")
    assert not is_done(member.pk, name)


@each_deed
def test_one_does_nothing_to_oneself(
    browser: JSONClient,
    administrator: Member,
    mail_folder: Any,
    name: str,
    form: dict[str, str],
    text: str,
) -> None:
    assert "/deeds/" not in get_page(browser, page_url(administrator))
    confirm(browser, administrator, name, **form | {"login_id": administrator.login_id})
    administrator.refresh_from_db()
    assert administrator.is_active
    assert administrator.silenced_until is None
    assert not AuditLogEntry.objects.exclude(text="Mail for a new password.").exists()


@pytest.mark.parametrize("name", ["factors", "end-silence"])
def test_deed_without_an_object_is_told(
    browser: JSONClient, free_member: Member, name: str
) -> None:
    assert url(free_member, name) not in get_page(browser, page_url(free_member))
    answer = confirm(browser, free_member, name)
    assert answer.headers["Location"] == page_url(free_member)
    assert "is not possible, or it was done already." in get_page(browser, MEMBERS)
    assert not AuditLogEntry.objects.exists()


def test_factor_of_an_administrator_stays(browser: JSONClient) -> None:
    other = make_member(role="ADMIN")
    give_totp(other)
    confirm(browser, other, "factors")
    other.refresh_from_db()
    assert other.has_second_factor


def test_unknown_deeds_and_members_are_404(
    browser: JSONClient, free_member: Member
) -> None:
    assert browser.get(url(free_member, "promotion")).status_code == 404
    assert browser.get(f"{MEMBERS}987654321/deeds/sessions/").status_code == 404


@pytest.mark.parametrize("typed", ["", "MINJI", "minji2", "other"])
def test_another_login_id_deletes_nobody(browser: JSONClient, typed: str) -> None:
    member = make_minji()
    page = confirm(browser, member, "deletion", login_id=typed).content.decode()
    assert 'aria-invalid="true"' in page
    assert Member.objects.filter(pk=member.pk).exists()


def test_deletion_takes_everything(browser: JSONClient, free_member: Member) -> None:
    make_entry(free_member, wallet=make_wallet(free_member))
    confirm(browser, free_member, "deletion", login_id=free_member.login_id)
    assert not any(count_rows_of(free_member).values())


@pytest.mark.parametrize("name", ["silence", "suspension"])
def test_end_lies_in_the_future(
    browser: JSONClient, free_member: Member, name: str
) -> None:
    form = SOON | {"until": "2001-01-01T09:00"}
    page = confirm(browser, free_member, name, **form).content.decode()
    assert "Must be in the future." in page
    # What was written is still there.
    assert "insults" in page
    assert not AuditLogEntry.objects.exists()


def test_suspension_needs_neither_end_nor_reason(
    browser: JSONClient, free_member: Member
) -> None:
    confirm(browser, free_member, "suspension")
    free_member.refresh_from_db()
    assert (free_member.status, free_member.suspended_until) == ("SUSPENDED", None)


def test_silence_needs_both(browser: JSONClient, free_member: Member) -> None:
    page = confirm(browser, free_member, "silence").content.decode()
    assert page.count('aria-invalid="true"') == 2
    free_member.refresh_from_db()
    assert free_member.silenced_until is None


def test_question_begins_with_the_values_in_force(browser: JSONClient) -> None:
    member = make_minji(suspension_reason="spam", status="SUSPENDED")
    assert "spam" in get_page(browser, url(member, "suspension"))
    assert "shouting" in get_page(browser, url(member, "silence"))


def test_refusal_of_the_api_is_a_message(
    browser: JSONClient, client: JSONClient, free_member: Member, mail_folder: Any
) -> None:
    # Nobody has confirmed the address that staff wrote.
    member, body = free_member, {"email": "other@example.com"}
    client.send("PUT", f"/api/users/{member.pk}", body)
    confirm(browser, member, "password-reset")
    page = get_page(browser, MEMBERS)
    assert "The member has not confirmed this email address." in page
    assert not CodeRequest.objects.exists()


def test_list_is_the_same_after_the_deed(browser: JSONClient) -> None:
    member = make_minji()
    query = "_changelist_filters=q%3Dminji"
    page = get_page(browser, f"{url(member, 'sessions')}?{query}")
    assert f"{page_url(member)}?{query}" in page
    form = {"confirmed": "yes", "_changelist_filters": "q=minji"}
    answer: Any = browser.post(url(member, "sessions"), form)
    assert answer.headers["Location"] == f"{page_url(member)}?{query}"


@pytest.mark.parametrize("fields", [{"role": "MEMBER"}, {"status": "SUSPENDED"}])
def test_demoted_or_suspended_administrator_has_nothing_left_at_once(
    browser: JSONClient, administrator: Member, client: JSONClient, fields: Any
) -> None:
    member = make_minji()
    boss = make_member(role="ADMIN")
    ((name, value),) = fields.items()
    body = {name: value}
    path = f"/api/admin/members/{administrator.pk}/{name}"
    assert JSONClient(boss).send("PUT", path, body).status_code == 200
    for answer in (
        browser.get(page_url(member)),
        browser.get(url(member, "suspension")),
        confirm(browser, member, "suspension", **SOON),
        browser.post(f"{MEMBERS}{member.pk}/support/", {"reason": "x"}),
        run_action(browser, "set_premium", member, confirmed="yes"),
        browser.get("/admin/second-factor/"),
        client.send("POST", "/api/admin/members/bulk", {}),
    ):
        assert answer.status_code in {302, 401, 403}
        assert "/admin/login" in answer.headers.get("Location", "/admin/login")
    member.refresh_from_db()
    assert (member.is_active, member.plan) == (True, "FREE")


def test_support_view_asks_a_reason_first(
    browser: JSONClient, administrator: Member, free_member: Member
) -> None:
    path = f"{MEMBERS}{free_member.pk}/support/"
    assert path in get_page(browser, page_url(free_member))
    make_entry(free_member, wallet=make_wallet(free_member, name="My bank"), memo="Kim")
    assert free_member.email not in get_page(browser, path)
    refused: Any = browser.post(path, {"reason": " "})
    assert 'aria-invalid="true"' in refused.content.decode()
    assert not AuditLogEntry.objects.exists()
    shown: Any = browser.post(path, {"reason": "lost phone"})
    page = shown.content.decode()
    assert shown.status_code == 200
    assert free_member.email in page
    assert "Rows of the ledger" in page
    for secret in ("My bank", "Kim", free_member.password):
        assert secret not in page
    entry = AuditLogEntry.objects.get()
    assert (entry.action, entry.text) == ("READ", "Support view. Reason: lost phone")
    assert SecurityLogEntry.objects.get(kind="SUPPORT_VIEWED").member == free_member
    log = get_page(browser, "/admin/accounts/auditlogentry/")
    assert "Support view. Reason: lost phone" in log
    assert (
        browser.post(f"{MEMBERS}987654321/support/", {"reason": "x"}).status_code == 404
    )
