"""Pages of staff: links from thing to thing, actions, sorting, cost, no ledger."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Member
from board.models import Comment, Post
from core.admin.base import ListAdmin
from tests.support.admin_site import (
    COMMENTS,
    IMAGES,
    LOG,
    MEMBERS,
    POSTS,
    TREE,
    get_page,
    list_pages,
    make_rows,
    record_statements,
)
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_entry, make_member, make_post
from tests.support.purchases import make_purchase

PURCHASES = "/admin/billing/purchase/"


def link_to(path: str, row: Any) -> str:
    return f'href="{path}{row.pk}/change/"'


def count_queries(browser: JSONClient, path: str) -> int:
    """Return the number of queries of a page that has been read before."""
    get_page(browser, path)
    with CaptureQueriesContext(connection) as queries:
        get_page(browser, path)
    return len(queries)


def list_lists() -> list[tuple[str, ListAdmin]]:
    return [
        (f"/admin/{model._meta.app_label}/{model._meta.model_name}/", model_admin)
        for model, model_admin in admin.site._registry.items()
        if isinstance(model_admin, ListAdmin)
    ]


def test_things_lead_to_each_other(browser: JSONClient, administrator: Member) -> None:
    member = make_rows(administrator)
    post, comment = Post.objects.get(), Comment.objects.get()
    purchase = member.purchases.get()
    to_member = link_to(MEMBERS, member)
    for path, row in ((POSTS, post), (COMMENTS, comment), (PURCHASES, purchase)):
        assert to_member in get_page(browser, path)
        assert to_member in get_page(browser, f"{path}{row.pk}/change/")
    assert to_member in get_page(browser, IMAGES)
    assert to_member in get_page(browser, LOG)
    assert link_to(POSTS, post) in get_page(browser, COMMENTS)
    assert link_to(POSTS, post) in get_page(browser, IMAGES)
    comments_of_post = f"{COMMENTS}?post__exact={post.pk}"
    assert comments_of_post in get_page(browser, f"{POSTS}{post.pk}/change/")
    assert comment.content in get_page(browser, comments_of_post)
    other = make_post(make_member())
    page = get_page(browser, f"{COMMENTS}?post__exact={other.pk}")
    assert comment.content not in page


def test_page_of_a_member_has_what_support_needs(
    browser: JSONClient, administrator: Member
) -> None:
    member = make_rows(administrator)
    page = get_page(browser, f"{MEMBERS}{member.pk}/change/")
    post, comment = Post.objects.get(), Comment.objects.get()
    for linked in (
        link_to(POSTS, post),
        link_to(COMMENTS, comment),
        link_to(PURCHASES, member.purchases.get()),
        f'href="{POSTS}?q=@{member.login_id}"',
        f'href="{COMMENTS}?q=@{member.login_id}"',
        f'href="{PURCHASES}?q={member.login_id}"',
    ):
        assert linked in page
    for text in ("Premium, yearly", "Running", "203.0.113.5", "Plan history"):
        assert text in page


def press(browser: JSONClient, path: str, row: Any, name: str, **more: str) -> Any:
    """Press a button on the page of a row, which must be there."""
    page = get_page(browser, f"{path}{row.pk}/change/")
    assert re.search(rf'<button[^>]* name="action" value="{name}"', page)
    form = {"action": name, "_selected_action": row.pk, "from_page": "yes"}
    return browser.post(path, form | more)


def test_post_is_hidden_and_shown_again_on_its_page(
    browser: JSONClient, free_member: Member
) -> None:
    post = make_post(free_member)
    answer = press(browser, POSTS, post, "hide", confirmed="yes", reason="SPAM")
    assert answer.headers["Location"] == f"{POSTS}{post.pk}/change/"
    assert Post.objects.get().is_hidden
    page = get_page(browser, f"{POSTS}{post.pk}/change/")
    assert "1 hidden." in page
    assert 'value="hide"' not in page, "it is hidden already"
    press(browser, POSTS, post, "show")
    assert not Post.objects.get().is_hidden


def test_deleted_comment_leads_back_to_the_list(
    browser: JSONClient, free_member: Member, settings: Any
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    comment = make_comment(free_member)
    question = press(browser, COMMENTS, comment, "delete")
    assert "It cannot be undone." in question.content.decode()
    assert 'name="from_page"' in question.content.decode()
    form = {"confirmed": "yes", "reason": "SPAM"}
    answer = press(browser, COMMENTS, comment, "delete", **form)
    assert (answer.status_code, answer.headers["Location"]) == (302, COMMENTS)
    assert not Comment.objects.exists()


def test_own_page_offers_no_actions(browser: JSONClient, administrator: Member) -> None:
    page = get_page(browser, f"{MEMBERS}{administrator.pk}/change/")
    assert 'name="action"' not in page


def test_show_all_is_offered_where_not_all_are_shown(browser: JSONClient) -> None:
    make_member(display_name="박서준")
    assert "Show all" not in get_page(browser, MEMBERS)
    page = get_page(browser, MEMBERS, q="서준")
    assert f'1 result (<a href="{MEMBERS}">Show all</a>)' in page
    assert "Show all" in get_page(browser, MEMBERS, status__exact="ACTIVE")


def test_lists_have_badges_and_no_crosses(
    browser: JSONClient, administrator: Member
) -> None:
    make_rows(administrator)
    for path, _ in list_lists():
        page = get_page(browser, path)
        assert "icon-no" not in page
        assert "icon-yes" not in page
    page = get_page(browser, POSTS)
    for badge in ("Hidden", "Notice"):
        assert re.search(rf'<span class="badge \w+">{badge}</span>', page)


def test_cells_name_their_columns_for_narrow_screens(
    browser: JSONClient, administrator: Member
) -> None:
    make_rows(administrator)
    for path, _ in list_lists():
        table = get_page(browser, path).partition("<tbody>")[2].partition("</tbody>")[0]
        for cell in re.findall(r"<t[dh][^>]*>", table):
            assert "data-label=" in cell or "action-checkbox" in cell, (path, cell)


def list_orders() -> list[tuple[str, int, str]]:
    return [
        (path, place, model_admin.opts.db_table)
        for path, model_admin in list_lists()
        for place, column in enumerate(model_admin.list_display, start=1)
        if getattr(column, "admin_order_field", None)
    ]


@pytest.mark.parametrize("direction", ["", "-"])
@pytest.mark.parametrize(("path", "place", "table"), list_orders())
def test_list_is_sorted_by_an_index(
    browser: JSONClient,
    administrator: Member,
    path: str,
    place: int,
    table: str,
    direction: str,
) -> None:
    # At any size of the table: sequential scans and whole sorts are disabled here.
    make_rows(administrator)
    # The column of checkboxes is counted too.
    is_first = 0 if "action-toggle" in get_page(browser, path) else 1
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        with CaptureQueriesContext(connection) as queries:
            get_page(browser, f"{path}?o={direction}{place - is_first}")
        # The rows of the page: not those that are counted, nor those of the log in which
        # the reading of its own page is looked for.
        *_, sql = [
            q["sql"]
            for q in queries
            if "ORDER BY" in q["sql"]
            and f'FROM "{table}"' in q["sql"]
            and not q["sql"].startswith("SELECT COUNT(")
        ]
        cursor.execute(f"EXPLAIN {sql}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert not re.search(r"^\s*(->\s+)?Sort  \(", plan, re.M), plan
    assert "Index" in plan


def test_column_without_an_index_does_not_sort(browser: JSONClient) -> None:
    page = get_page(browser, MEMBERS)
    assert re.search(r'<th scope="col"[^>]*column-email', page)
    assert page.count('class="text"><a href="?o=') == 2


def test_lists_cost_the_same_for_one_row_and_for_fifty(
    browser: JSONClient, administrator: Member
) -> None:
    counts = []
    for rows in (1, 49):
        for number in range(rows):
            make_rows(administrator, login_id=f"m{rows}-{number}")
        counts.append({path: count_queries(browser, path) for path, _ in list_lists()})
    assert counts[0] == counts[1]


def test_page_of_a_member_costs_the_same_for_one_row_and_for_fifty(
    browser: JSONClient, administrator: Member
) -> None:
    member = make_rows(administrator)
    path = f"{MEMBERS}{member.pk}/change/"
    before = count_queries(browser, path)
    for number in range(49):
        make_comment(member, post=make_post(member))
        make_purchase(member, f"GPA.{number}")
    assert count_queries(browser, path) == before


def test_no_page_of_staff_reads_or_shows_a_ledger(
    browser: JSONClient, administrator: Member
) -> None:
    member = make_rows(administrator)
    make_entry(member, memo="secret memo")
    pages = [path for path in list_pages() if path != "/admin/"]
    with record_statements() as statements:
        for path in pages:
            assert "secret" not in get_page(browser, path)
    tables = re.compile(r"FROM (account_|account\b|invest_)")
    assert not [sql for sql in statements if tables.search(sql)]
    assert TREE in pages
