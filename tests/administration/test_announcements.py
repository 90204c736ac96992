"""Announcements: written by administrators in both languages, read by an audience."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.announcements import announcements
from accounts.models import Announcement, AuditLogEntry, Member
from tests.support.admin_site import get_page
from tests.support.announcements import make_announcement
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.problems import assert_invalid, assert_problem

PATH, PUBLIC = "/api/admin/announcements", "/api/announcements"
ADMIN = "/admin/accounts/announcement/"
BODY = {
    "title": {"ko": "점검", "en": "Maintenance"},
    "text": {"ko": "첫 줄\n\n다음", "en": "First\n\nnext"},
    "level": "WARNING",
    "audience": "ALL",
    "from": "2026-11-01T09:00:00+09:00",
    "until": "2099-01-01T00:00:00+00:00",
}


def list_titles(client: JSONClient) -> list[str]:
    return [each["title"]["en"] for each in client.get_json(PUBLIC)]


def test_administrator_writes_reads_replaces_and_deletes(
    client: JSONClient, administrator: Member
) -> None:
    response = client.send("POST", PATH, BODY)
    assert response.status_code == 201
    created = response.data
    assert created == BODY | {"id": created["id"], "from": "2026-11-01T00:00:00+00:00"}
    path = f"{PATH}/{created['id']}"
    assert response.headers["Location"].endswith(path)
    assert client.get_json(path) == created
    assert client.get_json(PATH)["results"] == [created]
    # What was read may be sent back.
    changed = client.change_json("PUT", path, created | {"level": "CRITICAL"})
    assert changed == created | {"level": "CRITICAL"}
    assert client.send("DELETE", path).status_code == 204
    assert_problem(client.send("GET", path), 404, "NOT_FOUND")
    lines = AuditLogEntry.objects.order_by("id").values_list(
        "action", "actor_id", "target_type", "target_id"
    )
    assert list(lines) == [
        (action, administrator.pk, "accounts.Announcement", str(created["id"]))
        for action in ("ADDITION", "CHANGE", "DELETION")
    ]


def test_announcement_without_more_begins_now_for_all(client: JSONClient) -> None:
    body = {name: BODY[name] for name in ("title", "text", "until")}
    created = client.create_json(PATH, body)
    assert (created["level"], created["audience"]) == ("INFO", "ALL")
    begun = timezone.now() - datetime.fromisoformat(created["from"])
    assert timedelta(0) <= begun < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": {"ko": "점검"}}, "title.en"),
        ({"text": {"en": "Words"}}, "text.ko"),
        ({"title": {"ko": "점검", "en": "  "}}, "title.en"),
        ({"title": {"ko": "점검", "en": "x" * 101}}, "title.en"),
        ({"text": {"ko": "x" * 2001, "en": "x"}}, "text.ko"),
        ({"title": {"ko": "a", "en": "b", "ja": "c"}}, "title.ja"),
        ({"title": "Maintenance"}, "title"),
        ({"level": "HIGH"}, "level"),
        ({"audience": "MEMBERS"}, "audience"),
        ({"until": BODY["from"]}, "until"),
        ({"until": "2025-01-01T00:00:00Z"}, "until"),
        ({"until": None}, "until"),
        ({"to": "2099-01-01T00:00:00Z"}, "to"),
    ],
)
def test_wrong_announcements_are_refused(
    client: JSONClient, change: dict[str, Any], field: str
) -> None:
    known = make_announcement()
    assert_invalid(client.send("POST", PATH, BODY | change), field)
    assert_invalid(client.send("PUT", f"{PATH}/{known.pk}", BODY | change), field)
    assert Announcement.objects.get().title_en == known.title_en
    assert not AuditLogEntry.objects.exists()


def test_past_beginning_may_stay_when_it_is_replaced(client: JSONClient) -> None:
    known = make_announcement()
    body = {name: value for name, value in BODY.items() if name != "from"}
    changed = client.change_json("PUT", f"{PATH}/{known.pk}", body)
    assert datetime.fromisoformat(changed["from"]) == known.starts_at
    body["until"] = (known.starts_at - timedelta(seconds=1)).isoformat()
    response = client.send("PUT", f"{PATH}/{known.pk}", body)
    assert_invalid(response, "until")


@pytest.mark.parametrize(
    "fields",
    [
        {"title_ko": ""},
        {"title_en": " "},
        {"text_ko": "\n"},
        {"text_en": ""},
        {"level": "HIGH"},
        {"audience": "NOBODY"},
        {"ends_at": timezone.now() - timedelta(days=1)},
    ],
)
def test_database_refuses_what_is_no_announcement(fields: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_announcement(**fields)


def test_number_of_those_that_are_not_over_is_limited(
    client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcements, "MAX_ANNOUNCEMENTS", 2)
    now = timezone.now()
    make_announcement(starts_at=now - timedelta(2), ends_at=now - timedelta(1))
    for _ in range(2):
        client.create_json(PATH, BODY)
    assert_problem(client.send("POST", PATH, BODY), 409, "LIMIT_REACHED")
    # Nor may one come back.
    over = Announcement.objects.earliest("id")
    response = client.send("PUT", f"{PATH}/{over.pk}", BODY)
    assert_problem(response, 409, "LIMIT_REACHED")
    newest = Announcement.objects.latest("id")
    assert client.send("PUT", f"{PATH}/{newest.pk}", BODY).status_code == 200


def test_each_audience_sees_its_own(
    anonymous: JSONClient,
    free_member: Member,
    premium_member: Member,
    administrator: Member,
) -> None:
    for audience in ("ALL", "FREE", "PREMIUM", "STAFF"):
        make_announcement(audience, audience=audience)
    moderator = make_member(role="MODERATOR")
    assert list_titles(anonymous) == ["ALL"]
    assert list_titles(JSONClient(free_member)) == ["FREE", "ALL"]
    assert list_titles(JSONClient(premium_member)) == ["PREMIUM", "ALL"]
    assert list_titles(JSONClient(moderator)) == ["STAFF", "FREE", "ALL"]
    assert list_titles(JSONClient(administrator)) == ["STAFF", "PREMIUM", "ALL"]


def test_only_current_ones_are_listed(
    anonymous: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    hour = timedelta(hours=1)
    make_announcement("over", starts_at=now - 2 * hour, ends_at=now - hour)
    make_announcement("later", starts_at=now + hour, ends_at=now + 3 * hour)
    make_announcement("now", ends_at=now + 2 * hour)
    assert list_titles(anonymous) == ["now"]
    # Known before they begin and end.
    for passed, titles in ((1.5, ["later", "now"]), (2.5, ["later"]), (4, [])):
        monkeypatch.setattr(timezone, "now", lambda p=passed: now + p * hour)
        assert list_titles(anonymous) == titles


def test_answer_is_not_sent_again_to_who_has_it(
    anonymous: JSONClient, free_member: Member
) -> None:
    make_announcement(audience="FREE")
    client = JSONClient(free_member)
    first, other = client.get(PUBLIC), anonymous.get(PUBLIC)
    assert first.headers["ETag"] != other.headers["ETag"]
    assert first.headers["Cache-Control"] == "private, max-age=60"
    assert {"Authorization", "Cookie"} <= set(first.headers["Vary"].split(", "))
    again = client.get(PUBLIC, HTTP_IF_NONE_MATCH=first.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    make_announcement()
    again = client.get(PUBLIC, HTTP_IF_NONE_MATCH=first.headers["ETag"])
    assert again.status_code == 200


def test_known_announcements_cost_no_statement(
    anonymous: JSONClient, settings: Any
) -> None:
    make_announcement()
    anonymous.get_json(PUBLIC)
    with CaptureQueriesContext(connection) as queries:
        anonymous.get_json(PUBLIC)
    assert not queries.captured_queries
    settings.ANNOUNCEMENT_CACHE_SECONDS = -1
    with CaptureQueriesContext(connection) as queries:
        anonymous.get_json(PUBLIC)
    assert len(queries) == 1


def make_form(**fields: str) -> dict[str, str]:
    return {
        "title_ko": "점검",
        "title_en": "Maintenance",
        "text_ko": "첫 줄\r\n\r\n다음",
        "text_en": "Words",
        "level": "CRITICAL",
        "audience": "ALL",
        "starts_at": "2026-11-20T09:00",
        "ends_at": "2026-12-20T09:00",
    } | fields


def test_django_admin_adds_changes_and_deletes(
    browser: JSONClient, administrator: Member
) -> None:
    assert browser.post(f"{ADMIN}add/", make_form()).status_code == 302
    row = Announcement.objects.get()
    assert (row.title_ko, row.text_ko) == ("점검", "첫 줄\n\n다음")
    # In the home time zone.
    assert row.starts_at == datetime.fromisoformat("2026-11-20T09:00+09:00")
    page = get_page(browser, ADMIN)
    assert "Maintenance" in page
    assert "Critical" in page
    change = f"{ADMIN}{row.pk}/change/"
    assert 'value="2026-11-20T09:00"' in get_page(browser, change)
    response = browser.post(change, make_form(title_en="Ended"))
    assert response.status_code == 302
    row.refresh_from_db()
    assert row.title_en == "Ended"
    response = browser.post(f"{ADMIN}{row.pk}/delete/", {"post": "yes"})
    assert response.status_code == 302
    assert not Announcement.objects.exists()
    lines = AuditLogEntry.objects.order_by("id").values_list("action", "actor_id")
    assert list(lines) == [
        (action, administrator.pk) for action in ("ADDITION", "CHANGE", "DELETION")
    ]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"title_en": " "}, "This field is required."),
        ({"text_ko": ""}, "This field is required."),
        ({"title_en": "a\u0007"}, "Control characters are not allowed."),
        ({"ends_at": "2026-11-20T09:00"}, "Must be after the beginning."),
        ({"level": "HIGH"}, "Select a valid choice."),
    ],
)
def test_django_admin_says_what_is_wrong(
    browser: JSONClient, fields: dict[str, str], error: str
) -> None:
    response = browser.post(f"{ADMIN}add/", make_form(**fields))
    assert response.status_code == 200
    assert error in response.content.decode()
    assert not Announcement.objects.exists()


def test_moderators_have_no_page_of_them() -> None:
    browser = JSONClient()
    browser.cookies["sessionid"] = JSONClient(make_member(role="MODERATOR")).token
    assert browser.get(ADMIN).status_code != 200
