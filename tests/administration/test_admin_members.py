"""Members in Django admin: the list, actions, sessions."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditLogEntry, AuthSession, Member, PointHistory
from core.admin import base as admin
from tests.support.admin_site import MEMBERS, get_page, record_statements, run_action
from tests.support.clients import JSONClient
from tests.support.factories import make_member


def test_list_of_members_counts_nothing_whole_and_takes_few_queries(
    browser: JSONClient,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(30):
        make_member(profile_image="data:x")
    with record_statements() as statements, django_assert_max_num_queries(6):
        get_page(browser, MEMBERS)
    assert any("ORDER BY member.id DESC" in sql for sql in statements)
    assert not any("COUNT(*) AS __count FROM member" in sql for sql in statements)
    monkeypatch.setattr(admin, "MAX_COUNTED_ROWS", 7)
    assert "7 results" in get_page(browser, MEMBERS, q="member")


def test_page_of_a_member_shows_neither_password_nor_ledger(
    browser: JSONClient, free_member: Member
) -> None:
    wallet = {"name": "My bank", "kind": "BANK", "accountNumber": "110-222-333444"}
    JSONClient(free_member).send("POST", "/api/account/wallets", wallet)
    page = get_page(browser, f"{MEMBERS}{free_member.pk}/change/")
    assert free_member.email in page
    for secret in (free_member.password, 'name="password', "110-222-333444", "My bank"):
        assert secret not in page
    assert browser.get(f"{MEMBERS}{free_member.pk}/password/").status_code != 200


def test_page_of_a_member_changes_nothing_by_itself(
    browser: JSONClient, free_member: Member
) -> None:
    path = f"{MEMBERS}{free_member.pk}/change/"
    answer = browser.post(path, {"plan": "PREMIUM", "password": "x", "role": "ADMIN"})
    assert answer.status_code == 403
    assert browser.get(f"{MEMBERS}add/").status_code == 403
    assert browser.post(f"{MEMBERS}{free_member.pk}/delete/").status_code == 403
    before = Member.objects.get(pk=free_member.pk)
    assert (before.plan, before.role) == ("FREE", "MEMBER")
    assert before.password == free_member.password


@pytest.mark.parametrize(
    ("action", "field", "value"),
    [
        *(("set_premium", "plan", "PREMIUM"), ("set_free", "plan", "FREE")),
        *(("suspend", "status", "SUSPENDED"), ("activate", "status", "ACTIVE")),
        *(("make_administrator", "role", "ADMIN"), ("make_member", "role", "MEMBER")),
    ],
)
def test_action_asks_first_and_then_does_it_and_logs_it(
    browser: JSONClient, administrator: Member, action: str, field: str, value: str
) -> None:
    before = {"plan": "PREMIUM", "status": "ACTIVE", "role": "MEMBER", field: "?"}
    opposite = {"PREMIUM": "FREE", "FREE": "PREMIUM", "SUSPENDED": "ACTIVE"}
    opposite |= {"ACTIVE": "SUSPENDED", "ADMIN": "MEMBER", "MEMBER": "ADMIN"}
    before[field] = opposite[value]
    member = make_member(**before)
    asked = run_action(browser, action, member)
    assert asked.status_code == 200
    assert member.login_id in asked.content.decode()
    assert getattr(Member.objects.get(pk=member.pk), field) == opposite[value]
    assert not AuditLogEntry.objects.exists()
    done = run_action(browser, action, member, confirmed="yes")
    assert done.headers["Location"] == f"{MEMBERS}{member.pk}/change/"
    assert getattr(Member.objects.get(pk=member.pk), field) == value
    entry = AuditLogEntry.objects.get()
    assert (entry.actor_id, entry.target_id) == (administrator.pk, str(member.pk))
    assert value in entry.text


def test_plan_by_action_is_permanent(browser: JSONClient) -> None:
    member = make_member(
        plan="PREMIUM",
        plan_expires_at=timezone.now() + timedelta(3),
        plan_product="premium_monthly",
        plan_auto_renew=True,
    )
    run_action(browser, "set_premium", member, confirmed="yes")
    member.refresh_from_db()
    assert (member.plan, member.plan_expires_at) == ("PREMIUM", None)
    assert (member.plan_product, member.plan_auto_renew) == ("", False)


def test_several_members_are_changed_each_on_their_own(
    browser: JSONClient, administrator: Member
) -> None:
    # A refused one, the administrator's own account, does not affect the others.
    one, two = make_member(), make_member()
    answer = run_action(browser, "suspend", one, administrator, two, confirmed="yes")
    assert answer.headers["Location"].startswith(MEMBERS)
    states = dict(Member.objects.values_list("pk", "status"))
    assert (states[one.pk], states[two.pk]) == ("SUSPENDED", "SUSPENDED")
    assert states[administrator.pk] == "ACTIVE"
    assert "own account" in get_page(browser, MEMBERS)


def test_member_who_is_so_already_is_told_as_unchanged(browser: JSONClient) -> None:
    members = [make_member(), *(make_member(status="SUSPENDED") for _ in range(2))]
    run_action(browser, "suspend", *members, confirmed="yes")
    page = get_page(browser, MEMBERS)
    assert f"{members[0].login_id}: Suspend: done." in page
    assert "2 left as they are: they were so already." in page
    assert AuditLogEntry.objects.count() == 1
    run_action(browser, "suspend", members[1], confirmed="yes")
    page = get_page(browser, MEMBERS)
    assert "1 left as it is: it was so already." in page
    assert "done." not in page


def test_message_writes_a_login_id_as_it_is(browser: JSONClient) -> None:
    run_action(browser, "suspend", make_member(login_id="t-jo"), confirmed="yes")
    page = get_page(browser, MEMBERS)
    assert "t-jo: Suspend: done." in page
    assert "T-jo" not in page


def test_more_than_a_page_at_once_is_refused(browser: JSONClient) -> None:
    members = [make_member() for _ in range(101)]
    run_action(browser, "suspend", *members, confirmed="yes")
    assert not Member.objects.filter(status="SUSPENDED").exists()
    assert "at most 100" in get_page(browser, MEMBERS)


@pytest.mark.django_db(transaction=True)
def test_session_of_a_member_is_seen_and_ended(
    browser: JSONClient, free_member: Member
) -> None:
    client = JSONClient(free_member)
    session = AuthSession.objects.get(member=free_member)
    page = get_page(browser, f"{MEMBERS}{free_member.pk}/change/")
    address = f"{MEMBERS}{free_member.pk}/sessions/{session.key_hash}/end"
    assert address in page
    assert browser.get(address).status_code == 405
    wrong = address.replace(str(free_member.pk), str(make_member().pk), 1)
    assert browser.post(wrong).status_code == 404
    assert client.send("GET", "/api/auth/session").status_code == 200
    assert browser.post(address).status_code == 302
    assert client.send("GET", "/api/auth/session").status_code == 401
    assert AuditLogEntry.objects.get().text == "Session ended."
    assert browser.post(address).status_code == 404


def test_only_the_newest_sessions_and_points_are_shown(
    browser: JSONClient, free_member: Member
) -> None:
    for number in range(25):
        JSONClient(free_member)
        PointHistory.objects.create(member=free_member, points=1000 + number)
    page = get_page(browser, f"{MEMBERS}{free_member.pk}/change/")
    assert page.count('formaction="') == 20
    assert ">1,024<" in page
    assert ">1,004<" not in page
    assert ">1,005<" in page
