"""Django admin for staff: who may enter, settings, jobs, log, purchases."""

from datetime import timedelta

from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from accounts.models import ApplicationSetting, AuditLogEntry, Member
from core.jobs.models import JobRun
from tests.support.admin_site import (
    LOG,
    MEMBERS,
    RUNS,
    SETTINGS,
    TASKS,
    get_page,
    logged_in_browser,
    run_action,
)
from tests.support.clients import JSONClient
from tests.support.purchases import make_purchase


def test_former_administrator_is_logged_out_of_the_admin(administrator: Member) -> None:
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


def test_sign_up_is_closed_in_the_admin_and_the_log_says_so(
    browser: JSONClient, anonymous: JSONClient
) -> None:
    name = ApplicationSetting.Name.SIGNUP_ENABLED
    ApplicationSetting.objects.get_or_create(name=name)
    data = {
        "form-TOTAL_FORMS": 1,
        "form-INITIAL_FORMS": 1,
        "form-0-name": name,
        "initial-form-0-enabled": "True",
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
    entry = AuditLogEntry.objects.get(action="CHANGE")
    assert "Status SUSPENDED." in get_page(browser, f"{LOG}{entry.pk}/change/")
    assert browser.post(f"{LOG}{entry.pk}/delete/", {"post": "yes"}).status_code == 403


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
