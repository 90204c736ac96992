"""Django admin for staff: contents, actions, and data that is never shown."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from accounts.models import (
    ApplicationSetting,
    AuditLogEntry,
    AuthSession,
    Member,
    PointHistory,
)
from core.admin import base as admin
from core.jobs.models import JobRun
from ledger.models import DefaultCategory
from tests.support.admin_site import (
    LOG,
    MEMBERS,
    RUNS,
    SETTINGS,
    TASKS,
    TREE,
    get_page,
    logged_in_browser,
    run_action,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.store_rows import make_purchase

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(administrator: Member) -> JSONClient:
    return logged_in_browser(administrator)


# --- Who may enter ------------------------------------------------------------


@pytest.mark.parametrize("path", ["/admin/", MEMBERS, TREE, SETTINGS, RUNS, TASKS, LOG])
def test_only_administrators_enter(
    path: Any, premium_member: Member, administrator: Member
) -> None:
    for outsider in (JSONClient(), logged_in_browser(premium_member)):
        response = outsider.get(path)
        assert response.status_code == 302
        assert "/admin/login/" in response.headers["Location"]
    assert logged_in_browser(administrator).get(path).status_code == 200


def test_former_administrator_is_logged_out_of_the_admin(
    administrator: Member,
) -> None:
    browser = logged_in_browser(administrator)
    assert browser.get("/admin/").status_code == 200
    Member.objects.filter(pk=administrator.pk).update(role="MEMBER")
    assert logged_in_browser(administrator).get("/admin/").status_code == 302


def test_list_of_contents_is_what_staff_need(browser: JSONClient) -> None:
    page = get_page(browser, "/admin/")
    for wanted in ("Members", "Default categories", "Application settings", "Job runs"):
        assert wanted in page
    for noise in ("Crontabs", "Solar events", "Clocked", "Intervals", "Groups"):
        assert noise not in page


# --- Members ------------------------------------------------------------------


def test_members_are_found_and_filtered(
    browser: JSONClient, administrator: Member
) -> None:
    make_member(login_id="minji.kim", display_name="김민지", plan="PREMIUM")
    make_member(login_id="seojun", display_name="박서준", status="SUSPENDED")
    found = get_page(browser, MEMBERS, q="민지")
    assert "minji.kim" in found
    assert "seojun" not in found
    suspended = get_page(browser, MEMBERS, status__exact="SUSPENDED")
    assert "seojun" in suspended
    assert "minji.kim" not in suspended


def test_list_of_members_counts_nothing_whole_and_takes_few_queries(
    browser: JSONClient,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(30):
        make_member(profile_image="data:x")
    statements = []

    def note(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
        statements.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note), django_assert_max_num_queries(6):
        get_page(browser, MEMBERS)
        assert not [s for s in statements if 'COUNT(*) AS "__count" FROM "member"' in s]
        lists_read = [s for s in statements if 'ORDER BY "member"."id" DESC' in s]
        assert lists_read
        assert not [s for s in lists_read if "profile_image" in s]
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
    assert (before.plan, before.role, before.password) == (
        "FREE",
        "MEMBER",
        free_member.password,
    )


@pytest.mark.parametrize(
    ("action", "field", "value"),
    [
        ("set_premium", "plan", "PREMIUM"),
        ("set_free", "plan", "FREE"),
        ("suspend", "status", "SUSPENDED"),
        ("activate", "status", "ACTIVE"),
        ("make_administrator", "role", "ADMIN"),
        ("make_member", "role", "MEMBER"),
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


def test_session_is_ended_by_administrators_only(free_member: Member) -> None:
    JSONClient(free_member)
    session = AuthSession.objects.get(member=free_member)
    address = f"{MEMBERS}{free_member.pk}/sessions/{session.key_hash}/end"
    for outsider in (JSONClient(), logged_in_browser(make_member())):
        assert outsider.post(address).status_code == 302
    assert AuthSession.objects.filter(pk=session.pk).exists()


def test_only_the_newest_sessions_and_points_are_shown(
    browser: JSONClient, free_member: Member
) -> None:
    for number in range(25):
        JSONClient(free_member)
        PointHistory.objects.create(member=free_member, points=1000 + number)
    page = get_page(browser, f"{MEMBERS}{free_member.pk}/change/")
    assert page.count("/sessions/") == 20
    assert ">1,024<" in page
    assert ">1,004<" not in page
    assert ">1,005<" in page


# --- Default categories -------------------------------------------------------


@pytest.fixture
def tree(db: None) -> dict[str, DefaultCategory]:
    DefaultCategory.objects.exclude(parent=None).delete()
    DefaultCategory.objects.all().delete()
    make = DefaultCategory.objects.create
    food = make(type="expense", name="식비", sort_order=1)
    home = make(type="expense", name="주거", sort_order=2)
    cafe = make(type="expense", name="카페", parent=food, sort_order=1)
    out = make(type="expense", name="외식", parent=food, sort_order=2)
    pay = make(type="income", name="급여", sort_order=1)
    return {"food": food, "home": home, "cafe": cafe, "out": out, "pay": pay}


def names_in(page: str) -> list[str]:
    places = {
        name: page.find(f">{name}<")
        for name in ("식비", "주거", "카페", "외식", "급여")
    }
    return sorted(places, key=lambda name: places[name])


def test_categories_are_a_tree_whose_order_is_changed_by_buttons(
    browser: JSONClient, tree: dict[str, DefaultCategory]
) -> None:
    page = get_page(browser, TREE)
    assert names_in(page) == ["식비", "카페", "외식", "주거", "급여"]
    assert '<span class="minor">카페</span>' in page
    browser.post(f"{TREE}{tree['home'].pk}/move/up")
    browser.post(f"{TREE}{tree['cafe'].pk}/move/down")
    browser.post(f"{TREE}{tree['pay'].pk}/move/down")
    assert names_in(get_page(browser, TREE)) == ["주거", "식비", "외식", "카페", "급여"]
    assert AuditLogEntry.objects.count() == 2
    assert browser.get(f"{TREE}{tree['cafe'].pk}/move/down").status_code == 405


def test_moving_a_deleted_category_shows_an_error(
    browser: JSONClient, tree: dict[str, DefaultCategory]
) -> None:
    tree["pay"].delete()
    assert browser.post(f"{TREE}987654321/move/up").status_code == 302
    assert "Category not found." in get_page(browser, TREE)


def save(browser: JSONClient, path: str, **fields: Any) -> Any:
    data = {"type": "expense", "parent": "", "name": "새", "name_en": ""} | fields
    return browser.post(path, data)


def test_category_is_added_changed_and_deleted_by_the_same_rules(
    browser: JSONClient, tree: dict[str, DefaultCategory]
) -> None:
    assert save(browser, f"{TREE}add/", parent=tree["food"].pk).status_code == 302
    made = DefaultCategory.objects.get(name="새")
    assert (made.parent, made.sort_order) == (tree["food"], 3)
    path = f"{TREE}{made.pk}/change/"
    assert save(browser, path, name="빵", parent=tree["home"].pk).status_code == 302
    made.refresh_from_db()
    assert (made.name, made.parent, made.sort_order) == ("빵", tree["home"], 1)
    assert browser.post(f"{TREE}{made.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not DefaultCategory.objects.filter(pk=made.pk).exists()
    actions = AuditLogEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["ADDITION", "CHANGE", "DELETION"]


def test_category_that_breaks_the_hierarchy_is_a_form_error(
    browser: JSONClient, tree: dict[str, DefaultCategory]
) -> None:
    wrong = save(browser, f"{TREE}add/", parent=tree["pay"].pk)
    assert wrong.status_code == 200
    assert "another type" in wrong.content.decode()
    moved = save(
        browser, f"{TREE}{tree['food'].pk}/change/", name="식비", parent=tree["home"].pk
    )
    assert moved.status_code == 200
    assert "must be major" in moved.content.decode()
    taken = save(browser, f"{TREE}add/", name="식비")
    assert taken.status_code == 200
    browser.post(f"{TREE}{tree['food'].pk}/delete/", {"post": "yes"})
    assert DefaultCategory.objects.filter(pk=tree["food"].pk).exists()


# --- Settings, jobs, log ------------------------------------------------------


def test_sign_up_is_closed_in_the_admin_and_the_log_says_so(
    browser: JSONClient, anonymous: JSONClient
) -> None:
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    ApplicationSetting.objects.get_or_create(name=name)
    data = {
        "form-TOTAL_FORMS": 1,
        "form-INITIAL_FORMS": 1,
        "form-0-name": name,
        "_save": "Save",
    }
    assert browser.post(SETTINGS, data).status_code == 302
    assert anonymous.get_json("/api/auth/signup-enabled") == {"enabled": False}
    assert AuditLogEntry.objects.count() == 1
    assert browser.get(f"{SETTINGS}add/").status_code == 403


def test_runs_of_jobs_are_shown_and_not_changed(browser: JSONClient) -> None:
    run = JobRun.objects.create(
        job="purge_sessions", state="FAILED", started_at=timezone.now(), error="OSError"
    )
    assert "OSError" in get_page(browser, RUNS)
    get_page(browser, f"{RUNS}{run.pk}/change/")
    assert browser.post(f"{RUNS}{run.pk}/delete/", {"post": "yes"}).status_code == 403


def test_periodic_tasks_are_shown_with_their_last_runs_and_can_be_stopped(
    browser: JSONClient,
) -> None:
    hourly = IntervalSchedule.objects.create(every=1, period="hours")
    task = PeriodicTask.objects.create(
        name="purge_sessions", task="accounts.tasks.purge_sessions", interval=hourly
    )
    now = timezone.now()
    for state, minutes in (("DONE", 9), ("FAILED", 5), ("SKIPPED", 1)):
        started = now - timedelta(minutes=minutes)
        JobRun.objects.create(job=task.name, state=state, started_at=started, count=42)
    page = get_page(browser, TASKS)
    assert 'class="field-every">every hour</td>' in page
    assert ">Failed<" in page
    assert ">Done<" not in page
    browser.post(f"{TASKS}{task.pk}/change/", {"task": "os.system"})
    task.refresh_from_db()
    assert (task.enabled, task.task) == (False, "accounts.tasks.purge_sessions")
    assert AuditLogEntry.objects.count() == 1
    for noise in ("crontabschedule", "solarschedule", "clockedschedule"):
        assert browser.get(f"/admin/django_celery_beat/{noise}/").status_code == 404


def test_log_is_shown_and_not_changed(browser: JSONClient, free_member: Member) -> None:
    run_action(browser, "suspend", free_member, confirmed="yes")
    link = f'href="{MEMBERS}{free_member.pk}/change/">{free_member.pk}</a>'
    assert link in get_page(browser, LOG)
    entry = AuditLogEntry.objects.get()
    assert "Status SUSPENDED." in get_page(browser, f"{LOG}{entry.pk}/change/")
    assert browser.post(f"{LOG}{entry.pk}/delete/", {"post": "yes"}).status_code == 403


# --- Purchases ----------------------------------------------------------------


def test_purchases_are_shown_with_their_member_and_without_their_token(
    browser: JSONClient, free_member: Member
) -> None:
    purchase = make_purchase(free_member, "GPA.1234", token="secret-token")
    purchases = "/admin/billing/purchase/"
    pages = [
        get_page(browser, f"{MEMBERS}{free_member.pk}/change/"),
        get_page(browser, purchases, q="GPA.1234"),
        get_page(browser, f"{purchases}{purchase.pk}/change/"),
    ]
    for page in pages:
        assert "GPA.1234" in page
        assert "secret-token" not in page
    assert browser.post(f"{purchases}{purchase.pk}/delete/").status_code == 403
    get_page(browser, "/admin/billing/storenotification/")
