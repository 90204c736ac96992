"""The audit log outlives its authors, and nobody changes it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import DatabaseError, connection, transaction

from accounts.models import ApplicationSetting, AuditLogEntry, Member
from accounts.security.audit_log import CHANGE, log_admin_action
from tests.support.admin_site import (
    LOG,
    MEMBERS,
    SETTINGS,
    get_page,
    logged_in_browser,
    run_action,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_member


def test_lines_of_an_administrator_who_left_stay(
    administrator: Member, free_member: Member
) -> None:
    leaver = make_member(role="ADMIN", login_id="the-leaver")
    path = f"/api/admin/members/{free_member.pk}/status"
    assert JSONClient(leaver).send("PUT", path, {"status": "SUSPENDED"}).data
    assert JSONClient(leaver).send("DELETE", "/api/auth/me").status_code == 204
    page = get_page(logged_in_browser(administrator), LOG)
    assert f"/admin/accounts/member/{free_member.pk}/change/" in page
    assert "the-leaver" in page


def test_lines_of_an_administrator_who_was_deleted_stay(
    administrator: Member, free_member: Member
) -> None:
    other, client = make_member(role="ADMIN"), JSONClient(administrator)
    log_admin_action(other, free_member, CHANGE, "Something.")
    path = f"/api/admin/members/{other.pk}"
    assert client.send("DELETE", path).status_code == 204
    logged = AuditLogEntry.objects.order_by("id").values_list("actor_id", "actor_name")
    assert list(logged) == [
        (other.pk, other.login_id),
        (administrator.pk, administrator.login_id),
    ]


def run_sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize(
    "change",
    [
        lambda: AuditLogEntry.objects.update(actor_id=1),
        lambda: AuditLogEntry.objects.all().delete(),
        lambda: AuditLogEntry.objects.get().delete(),
        lambda: AuditLogEntry.objects.get().save(),
        lambda: run_sql("UPDATE audit_log SET text = ''"),
        lambda: run_sql("DELETE FROM audit_log"),
        lambda: run_sql("DELETE FROM audit_log WHERE false"),
    ],
)
def test_no_statement_changes_or_deletes_a_line(
    administrator: Member, free_member: Member, change: Callable[[], Any]
) -> None:
    log_admin_action(administrator, free_member, CHANGE, "Something.")
    before = AuditLogEntry.objects.values().get()
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change()
    assert AuditLogEntry.objects.values().get() == before


def test_line_names_the_request_and_the_target(
    administrator: Member, free_member: Member
) -> None:
    path = f"/api/admin/members/{free_member.pk}/role"
    response = JSONClient(administrator).send("PUT", path, {"role": "ADMIN"})
    entry = AuditLogEntry.objects.get()
    assert entry.request_id == response.headers["X-Request-ID"]
    assert (entry.target_type, entry.target_id, entry.text) == (
        "accounts.Member",
        str(free_member.pk),
        "Role ADMIN.",
    )


def test_action_that_is_rolled_back_leaves_no_line(
    administrator: Member, free_member: Member
) -> None:
    with transaction.atomic():
        log_admin_action(administrator, free_member, CHANGE)
        transaction.set_rollback(True)
    assert not AuditLogEntry.objects.exists()


def test_history_of_a_member_shows_their_lines_only(
    administrator: Member, free_member: Member, other_member: Member
) -> None:
    browser = logged_in_browser(administrator)
    run_action(browser, "suspend", free_member, confirmed="yes")
    run_action(browser, "make_administrator", other_member, confirmed="yes")
    response = browser.get(f"{MEMBERS}{free_member.pk}/history/")
    assert response.status_code == 302
    page = get_page(browser, response.headers["Location"])
    assert "Status SUSPENDED." in page
    assert "Role ADMIN." not in page
    assert "Role ADMIN." in get_page(browser, "/admin/")


def test_changes_of_djangos_own_pages_are_worded_and_go_nowhere_else(
    administrator: Member,
) -> None:
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    # A test that commits empties the table.
    ApplicationSetting.objects.get_or_create(name=name)
    browser = logged_in_browser(administrator)
    response = browser.post(f"{SETTINGS}{name}/change/", {"_save": "Save"})
    assert response.status_code == 302
    entry = AuditLogEntry.objects.get()
    assert (entry.action, entry.text) == ("CHANGE", "Enabled false.")
    assert (entry.target_type, entry.target_id) == ("accounts.ApplicationSetting", name)
    assert not LogEntry.objects.exists()
