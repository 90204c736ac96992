"""The log by the API and in Django admin: filters, pages, files, and its own lines."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditLogEntry, Member
from accounts.security.audit_log import CHANGE, log_admin_action
from administration.log import LogFilter, filter_lines, log_reading
from tests.support.admin_site import LOG, MEMBERS, get_page
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

PATH, FILE = "/api/admin/log", "/api/admin/log.csv"
# Midnight in Seoul.
MIDNIGHT = datetime(2026, 11, 19, 15, tzinfo=UTC)


def make_line(**fields: Any) -> AuditLogEntry:
    values = {
        "actor_id": 1,
        "actor_name": "somebody",
        "action": "CHANGE",
        "target_type": "board.Post",
        "target_id": "5",
        "target_label": "post",
        "text": "Hidden.",
    }
    return AuditLogEntry.objects.create(**(values | fields))


def list_ids(client: JSONClient, **query: Any) -> list[int]:
    return [line["id"] for line in client.get_json(PATH, **query)["results"]]


def list_readings() -> list[str]:
    lines = AuditLogEntry.objects.filter(action="READ").order_by("id")
    return list(lines.values_list("text", flat=True))


def read_file(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    text = response.getvalue().decode("utf-8")
    assert text.startswith("\ufeff"), "spreadsheets take it for UTF-8"
    return list(csv.DictReader(io.StringIO(text[1:])))


def test_line_has_what_was_done_by_whom_in_which_request(
    client: JSONClient, administrator: Member, free_member: Member
) -> None:
    path = f"/api/admin/members/{free_member.pk}/role"
    request_id = client.send("PUT", path, {"role": "MODERATOR"}).headers["X-Request-ID"]
    (line,) = client.get_json(PATH)["results"]
    entry = AuditLogEntry.objects.get(action="CHANGE")
    assert line == {
        "id": entry.pk,
        "at": line["at"],
        "actorId": administrator.pk,
        "action": "CHANGE",
        "targetType": "accounts.Member",
        "targetId": str(free_member.pk),
        "text": "Role MODERATOR.",
        "requestId": request_id,
    }
    assert datetime.fromisoformat(line["at"]) == entry.at
    korean = client.get(PATH, HTTP_ACCEPT_LANGUAGE="ko").json()["results"]
    assert korean[-1]["text"] == "역할을 운영자로 바꿨어요."


def test_filters_are_combined(client: JSONClient) -> None:
    post = make_line()
    other = make_line(actor_id=2)
    gone = make_line(action="DELETION", target_id="6")
    member = make_line(target_type="accounts.Member")
    for query, lines in (
        ({"actor": 2}, [other]),
        ({"action": "DELETION"}, [gone]),
        ({"targetType": "accounts.Member"}, [member]),
        ({"targetType": "board.Post", "targetId": "5"}, [other, post]),
        ({"targetId": "6"}, [gone]),
        ({"actor": 1, "targetType": "board.Post", "action": "CHANGE"}, [post]),
        ({"actor": 2, "action": "DELETION"}, []),
        ({"actor": 2**63 - 1}, []),
    ):
        assert list_ids(client, **query) == [line.pk for line in lines], query


def test_days_are_those_of_the_home_time_zone(client: JSONClient) -> None:
    second = timedelta(seconds=1)
    before = make_line(at=MIDNIGHT - second)
    # Of two lines of one moment the later id may have the earlier time.
    last = make_line(at=MIDNIGHT + timedelta(days=1) - second)
    first = make_line(at=MIDNIGHT)
    after = make_line(at=MIDNIGHT + timedelta(days=1))
    days = {"from": "2026-11-20", "to": "2026-11-20"}
    assert list_ids(client, **days) == [first.pk, last.pk]
    assert list_ids(client, to="2026-11-19") == [before.pk]
    assert after.pk in list_ids(client, **{"from": "2026-11-21"})
    assert list_ids(client, **{"from": "9999-12-31"}) == []
    assert list_ids(client, to="0001-01-01") == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"actor": "minji"}, "actor"),
        ({"actor": 0}, "actor"),
        ({"action": "delete"}, "action"),
        ({"targetType": ""}, "targetType"),
        ({"from": "20261120"}, "from"),
        ({"from": "2026-11-20", "to": "2026-11-19"}, "to"),
        ({"before": 0}, "before"),
        ({"page": 2}, "page"),
    ],
)
def test_wrong_filters_are_refused_and_no_reading(
    client: JSONClient, query: dict[str, Any], field: str
) -> None:
    assert_invalid(client.send("GET", f"{PATH}?{urlencode(query)}"), field)
    assert list_readings() == []


def test_walk_through_all_pages_has_each_line_once_and_is_one_line(
    client: JSONClient,
) -> None:
    lines = [make_line().pk for _ in range(7)]
    url, found = f"{PATH}?size=2&targetType=board.Post", []
    while url:
        page = client.get(url).json()
        found += [line["id"] for line in page["results"]]
        url = page["next"]
    assert found == lines[::-1]
    assert list_readings() == ["Filter: targetType=board.Post."]


def test_each_filter_is_a_line_and_again_after_an_hour(
    client: JSONClient, administrator: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    for query in ({}, {"actor": 1}, {}, {"actor": 1, "from": "2026-11-01"}):
        list_ids(client, **query)
    read = ["", "Filter: actor=1.", "Filter: actor=1, from=2026-11-01."]
    assert list_readings() == read
    other = make_member(role="ADMIN")
    list_ids(JSONClient(other))
    later = timezone.now() + timedelta(hours=1, seconds=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    log_reading(administrator, {})
    assert list_readings() == [*read, "", ""]


def test_members_and_moderators_do_not_read_it(free_member: Member) -> None:
    for member in (free_member, make_member(role="MODERATOR")):
        for path in (PATH, FILE):
            response = JSONClient(member).get(path)
            assert_problem(response, 403, "ADMIN_REQUIRED")
    assert not AuditLogEntry.objects.exists()


def test_file_has_all_lines_of_the_filter_and_is_a_line_itself(
    client: JSONClient, administrator: Member
) -> None:
    make_line(target_id="=1+1", target_type="x")
    make_line(target_id="@x", text="+1")
    make_line(actor_id=2)
    rows = read_file(client.get(FILE, {"actor": 1}))
    assert [row["targetId"] for row in rows] == ["'@x", "'=1+1"]
    assert [row["text"] for row in rows] == ["'+1", "Hidden."]
    line = AuditLogEntry.objects.order_by("id").last()
    assert line is not None
    assert (line.action, line.text) == ("EXPORT", "Rows: 2. Filter: actor=1.")
    assert (line.actor_id, line.target_type) == (
        administrator.pk,
        "accounts.AuditLogEntry",
    )


@pytest.mark.parametrize("query", [{}, {"from": "2026-11-01", "to": "2030-01-01"}])
def test_number_of_statements_is_that_of_one_line(
    client: JSONClient, query: dict[str, str]
) -> None:
    counts = []
    for number in (1, 49):
        for _ in range(number):
            make_line(at=datetime(2026, 12, 1, tzinfo=UTC))
        client.get_json(PATH, **query)
        with CaptureQueriesContext(connection) as queries:
            found = client.get_json(PATH, size=100, **query)["results"]
        counts.append(len(queries))
    assert len(found) >= 50
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        (LogFilter(actor=5), "audit_log_actor"),
        (LogFilter(action="DELETION"), "audit_log_action"),
        (LogFilter(target_type="x", target_id="1"), "audit_log_target"),
        (LogFilter(target_id="1"), "audit_log_target_id"),
        (LogFilter(start=MIDNIGHT.date(), end=MIDNIGHT.date()), "audit_log_pkey"),
    ],
)
def test_each_filter_has_an_index_in_the_order_of_the_list(
    filters: LogFilter, index: str
) -> None:
    make_line(at=MIDNIGHT)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    plan = filter_lines(filters).order_by("-pk")[:51].explain()
    assert f"using {index}" in plan, plan
    assert "Sort" not in plan, plan


def test_page_searches_by_actor_target_and_day(
    browser: JSONClient, administrator: Member
) -> None:
    make_line(text="Silenced.", target_id="42", at=MIDNIGHT)
    make_line(actor_name="leaver", text="Deleted.", target_id="41")
    make_line(text="Silence ended.", actor_id=77, target_type="accounts.Member")
    for words, shown, other in (
        ("leaver", "Deleted.", "Silenced."),
        ("LEAVER", "Deleted.", "Silenced."),
        ("42", "Silenced.", "Silence ended."),
        ("77", "Silence ended.", "Silenced."),
        ("2026-11-20", "Silenced.", "Silence ended."),
        ("leaver 41", "Deleted.", "Silence ended."),
    ):
        page = get_page(browser, LOG, q=words)
        assert shown in page, words
        assert other not in page, words
    assert "0 log entries" in get_page(browser, LOG, q="2026-13-99")
    page = get_page(browser, LOG, target_type__exact="accounts.Member")
    assert "Silence ended." in page
    assert "Silenced." not in page


def test_page_is_a_reading_without_the_words_that_were_searched(
    browser: JSONClient,
) -> None:
    for page in ("1", "2"):
        get_page(browser, LOG, q="hong@example.com", action__exact="CHANGE", p=page)
    assert list_readings() == ["Filter: action__exact=CHANGE, q."]


def test_page_counts_no_more_lines_than_it_shows(browser: JSONClient) -> None:
    make_line()
    with CaptureQueriesContext(connection) as queries:
        get_page(browser, LOG)
    counts = [q["sql"] for q in queries if "COUNT(*)" in q["sql"]]
    assert all("LIMIT 10001" in sql for sql in counts if "audit_log" in sql)


def test_export_of_a_list_is_a_line_with_filter_and_number(
    browser: JSONClient, administrator: Member, free_member: Member
) -> None:
    make_member(login_id="one", status="SUSPENDED", display_name="Kim")
    make_post(free_member)
    query = {"q": "kim", "status__exact": "SUSPENDED", "o": "1"}
    browser.get(f"{MEMBERS}export/", query).getvalue()
    line = AuditLogEntry.objects.get()
    assert (line.action, line.target_type) == ("EXPORT", "accounts.Member")
    assert line.text == "Rows: 1. Filter: q, status__exact=SUSPENDED."
    assert line.actor_id == administrator.pk
    page = get_page(browser, LOG)
    assert "Rows: 1. Filter: q, status__exact=SUSPENDED." in page
    korean = browser.get(LOG, HTTP_ACCEPT_LANGUAGE="ko").content.decode()
    assert "행은 1개예요." in korean


def test_line_of_a_member_names_the_log_as_before(
    client: JSONClient, administrator: Member, free_member: Member
) -> None:
    log_admin_action(administrator, free_member, CHANGE, "Hidden. Case 12.")
    (line,) = client.get_json(PATH, targetId=free_member.pk)["results"]
    assert line["text"] == "Hidden. Case 12."


@pytest.mark.parametrize(
    "query", ["actor__login_id=x", "nothing=5", f"nothing={'x' * 3_000}"]
)
def test_refused_filter_of_the_page_is_no_reading(
    browser: JSONClient, query: str
) -> None:
    assert browser.get(f"{LOG}?{query}").status_code in {302, 400}
    assert list_readings() == []


def test_long_value_of_a_filter_is_cut(browser: JSONClient) -> None:
    assert browser.get(f"{LOG}?target_id={'5' * 3_000}").status_code == 200
    (text,) = list_readings()
    assert text == f"Filter: target_id={'5' * 90}."


def test_lines_of_one_moment_are_found_by_their_day_in_any_order_of_ids(
    client: JSONClient,
) -> None:
    # Two web servers wrote them at once, and nothing was written around.
    late = make_line(at=MIDNIGHT + timedelta(hours=5, seconds=1))
    early = make_line(at=MIDNIGHT + timedelta(hours=5))
    for query in ({"from": "2026-11-20"}, {"to": "2026-11-20"}):
        assert set(list_ids(client, **query)) >= {late.pk, early.pk}
    assert list_ids(client, to="2026-11-19") == []
