"""Default categories in Django admin."""

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest

from accounts.models import AuditLogEntry
from ledger.models import DefaultCategory
from tests.support.admin_site import TREE, get_page
from tests.support.clients import JSONClient


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


@pytest.mark.parametrize("query", ["", "type__exact=expense&p=1", "e=1"])
@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_move_leads_back_to_its_button_in_the_same_list(
    browser: JSONClient,
    tree: dict[str, DefaultCategory],
    query: str,
    direction: str,
) -> None:
    url = f"{TREE}?{query}" if query else TREE
    page = get_page(browser, url)
    row = tree["home"].pk
    field = re.search(r'name="_changelist_filters" value="([^"]*)"', page)
    assert (html.unescape(field[1]) if field else "") == query
    assert f'id="move-{direction}-{row}"' in page
    form = {"_changelist_filters": query} if query else {}
    answer: Any = browser.post(f"{TREE}{row}/move/{direction}", form)
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"{url}#move-{direction}-{row}"


@pytest.mark.parametrize("page", ["change", "delete"])
def test_saved_and_deleted_category_leads_back_to_the_same_list(
    browser: JSONClient, tree: dict[str, DefaultCategory], page: str
) -> None:
    of_list = urlencode({"_changelist_filters": "type__exact=expense"})
    row = tree["cafe"]
    assert f"{row.pk}/change/?{of_list}" in get_page(
        browser, f"{TREE}?type__exact=expense"
    )
    path = f"{TREE}{row.pk}/{page}/?{of_list}"
    answer = save(browser, path, name="빵", parent=tree["food"].pk, post="yes")
    assert answer.headers["Location"] == f"{TREE}?type__exact=expense"
    # What is refused leads there, too.
    path = f"{TREE}{tree['food'].pk}/delete/?{of_list}"
    refused: Any = browser.post(path, {"post": "yes"})
    assert DefaultCategory.objects.filter(pk=tree["food"].pk).exists()
    assert refused.status_code in {200, 302}
    if refused.status_code == 302:
        assert refused.headers["Location"] == f"{TREE}?type__exact=expense"


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
