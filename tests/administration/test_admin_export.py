"""CSV files of the lists: streamed, bounded statements, no formulas."""

import csv
import io
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from core.admin import export
from core.csv_cells import make_cell
from tests.support.admin_site import MEMBERS, POSTS, get_page, make_rows
from tests.support.clients import JSONClient
from tests.support.factories import make_entry, make_member, make_post


def read_file(browser: JSONClient, path: str, **query: Any) -> list[dict[str, str]]:
    response = browser.get(f"{path}export/", query)
    assert response.status_code == 200
    assert response.streaming
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"].startswith("attachment; filename=")
    text = response.getvalue().decode("utf-8")
    assert text.startswith("\ufeff"), "spreadsheets take it for UTF-8"
    return list(csv.DictReader(io.StringIO(text[1:])))


@pytest.mark.parametrize(
    "start", [*("=", "+", "-", "@"), *("\t", "\r", "\n"), *"＝＋－＠", " =", "\u3000@"]
)
def test_text_that_could_be_a_formula_is_quoted(start: str) -> None:
    assert make_cell(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize(
    ("value", "cell"),
    [("a=1", "a=1"), (-5, "-5"), (None, ""), (True, "True"), ("", "")],
)
def test_other_cells_are_as_they_are(value: object, cell: str) -> None:
    assert make_cell(value) == cell


def test_titles_of_members_are_no_formulas_in_the_file(
    browser: JSONClient, free_member: Member
) -> None:
    make_post(free_member, title='=HYPERLINK("https://x")')
    (row,) = read_file(browser, POSTS)
    assert row["Title"] == '\'=HYPERLINK("https://x")'


def test_file_has_the_rows_of_the_search_and_the_filters(browser: JSONClient) -> None:
    make_member(login_id="one", status="SUSPENDED", display_name="박서준")
    make_member(login_id="two", display_name="박서준")
    make_member(login_id="three", status="SUSPENDED")
    rows = read_file(browser, MEMBERS, q="서준", status__exact="SUSPENDED")
    assert [(row["Login ID"], row["Status"]) for row in rows] == [("one", "Suspended")]
    page = get_page(browser, MEMBERS, q="서준", o="3", p="1")
    assert "export/?q=%EC%84%9C%EC%A4%80" in page


def test_file_has_all_rows_however_many_a_statement_reads(
    browser: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "ROWS_PER_STATEMENT", 2)
    logins = {make_member().login_id for _ in range(5)}
    with CaptureQueriesContext(connection) as queries:
        rows = read_file(browser, MEMBERS)
    assert logins <= {row["Login ID"] for row in rows}
    assert len(rows) == Member.objects.count()
    read = [q["sql"] for q in queries if 'ORDER BY "member"."id" DESC' in q["sql"]]
    assert len(read) >= 3
    assert all("LIMIT 2" in sql for sql in read)


def test_file_is_in_the_language_of_the_staff_member(browser: JSONClient) -> None:
    make_member(status="SUSPENDED")
    response = browser.get(f"{MEMBERS}export/", HTTP_ACCEPT_LANGUAGE="ko")
    text = response.getvalue().decode()
    assert "로그인 아이디" in text
    assert "정지" in text


def test_no_file_has_secrets_or_the_ledger(
    browser: JSONClient, administrator: Member
) -> None:
    member = make_rows(administrator)
    make_entry(member, memo="secret memo")
    for model, model_admin in admin.site._registry.items():
        if not getattr(model_admin, "export_columns", ()):
            continue
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/export/"
        response = browser.get(path)
        text = response.getvalue().decode()
        assert len(text.splitlines()) >= 2, path
        for secret in (member.password, "secret memo", "purchase_token"):
            assert secret not in text


def test_export_is_logged(
    browser: JSONClient,
    caplog: pytest.LogCaptureFixture,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with (
        caplog.at_level("INFO", logger="security"),
        django_capture_on_commit_callbacks(execute=True),
    ):
        read_file(browser, MEMBERS)
    (event,) = [r.fields for r in caplog.records if r.name == "security"]  # type: ignore[attr-defined]
    assert (event["event"], event["list"]) == ("LIST_EXPORTED", "accounts.Member")


def test_who_may_not_see_a_list_exports_none(
    browser: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = admin.site._registry[Member]
    monkeypatch.setattr(type(members), "has_view_permission", lambda *_, **__: False)
    assert browser.get(f"{MEMBERS}export/").status_code == 403
