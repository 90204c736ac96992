"""Names that change while a request is about to use them."""

from functools import partial
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Category, Entry, EntryTag, Tag
from tests.support.clients import JSONClient
from tests.support.documented import select_known_fields
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_member,
    make_quick_entry,
    make_rule,
    make_tag,
    make_wallet,
)
from tests.support.races import call_before
from tests.support.rollups import assert_rollups_are_right

pytestmark = pytest.mark.django_db(transaction=True)

ACCOUNT = "/api/account"
BODY = {
    "date": "2026-11-21",
    "type": "expense",
    "amount": 7,
    "name": "Lunch",
    "frequency": "MONTHLY",
    "anchorDate": "2026-11-21",
}
MAKERS: dict[str, Any] = {
    "entries": make_entry,
    "quick-entries": make_quick_entry,
    "recurring": make_rule,
}
WRITERS = [(method, name) for name in MAKERS for method in ("POST", "PUT", "PATCH")]


@pytest.fixture
def member() -> Member:
    return make_member(role="ADMIN")


def send_another(client: JSONClient, method: str, path: str, body: Any = None) -> Any:
    """Send a request of the same session by another client, for another thread."""
    other = JSONClient()
    other.use_token(client.token)
    return partial(other.send, method, path, body)


def address(member: Member, method: str, name: str) -> str:
    path = f"{ACCOUNT}/{name}"
    return path if method == "POST" else f"{path}/{MAKERS[name](member).pk}"


@pytest.mark.parametrize("change", ["PUT", "DELETE"])
@pytest.mark.parametrize(("method", "name"), WRITERS)
def test_tag_that_is_renamed_or_deleted_below_a_writer_is_never_a_500(
    member: Member, method: str, name: str, change: str
) -> None:
    # It has found the old tag and is about to create the new one.
    client, tag = JSONClient(member), make_tag(member, name="old")
    body = BODY | {"tags": ["old", "new"]}
    path = address(member, method, name)
    named = {"name": "other"} if change == "PUT" else None
    rename = send_another(client, change, f"{ACCOUNT}/tags/{tag.pk}", named)
    with call_before('INSERT INTO "account_tag"', rename) as renamed:
        response = client.send(method, path, select_known_fields(method, path, body))
    assert response.status_code in {200, 201}, response.content
    # The other request may have waited, and be through before the row is read back.
    assert response.data["tags"][-1] == "new"
    assert renamed.result().status_code in {200, 204}
    names = {"old", "new"} - {"old"} | ({"other"} if change == "PUT" else set())
    assert set(Tag.objects.values_list("name", flat=True)) == names
    assert_rollups_are_right()


@pytest.mark.parametrize(("method", "name"), WRITERS)
def test_tag_that_gets_the_name_of_a_new_one_never_deadlocks_with_its_writer(
    member: Member, method: str, name: str
) -> None:
    # The writer has created the name and links the tag that is renamed to it.
    client, tag = JSONClient(member), make_tag(member, name="old")
    body = BODY | {"tags": ["new", "old"]}
    path = address(member, method, name)
    rename = send_another(client, "PUT", f"{ACCOUNT}/tags/{tag.pk}", {"name": "new"})
    with call_before('_tag" ("member_id"', rename) as renamed:
        response = client.send(method, path, select_known_fields(method, path, body))
    assert response.status_code in {200, 201}, response.content
    assert renamed.result().status_code == 409


@pytest.mark.parametrize("change", ["PATCH", "DELETE"])
@pytest.mark.parametrize(("method", "name"), WRITERS)
def test_category_that_changes_below_a_writer_keeps_or_refuses_the_row(
    member: Member, method: str, name: str, change: str
) -> None:
    client, category = JSONClient(member), make_category(member, name="old")
    body = BODY | {"category": "old", "tags": ["new"]}
    path = address(member, method, name)
    category_path = f"{ACCOUNT}/categories/{category.pk}"
    named = {"name": "other"} if change == "PATCH" else None
    other = send_another(client, change, category_path, named)
    with call_before('INSERT INTO "account_tag"', other) as changed:
        response = client.send(method, path, select_known_fields(method, path, body))
    assert response.status_code in {200, 201}, response.content
    assert changed.result().status_code == (200 if change == "PATCH" else 409)
    names = set(Category.objects.values_list("name", flat=True))
    assert names == {"other" if change == "PATCH" else "old"}


@pytest.mark.parametrize(("method", "name"), WRITERS)
def test_wallet_that_is_deleted_below_a_writer_is_in_use(
    member: Member, method: str, name: str
) -> None:
    client, wallet = JSONClient(member), make_wallet(member)
    body = BODY | {"walletId": wallet.pk, "tags": ["new"]}
    path = address(member, method, name)
    delete = send_another(client, "DELETE", f"{ACCOUNT}/wallets/{wallet.pk}")
    with call_before('INSERT INTO "account_tag"', delete) as deleted:
        response = client.send(method, path, select_known_fields(method, path, body))
    assert response.status_code in {200, 201}, response.content
    assert deleted.result().data["code"] == "IN_USE"


@pytest.mark.parametrize("change", ["PATCH", "DELETE"])
def test_learned_category_that_changes_below_a_notification_is_never_a_500(
    member: Member, change: str
) -> None:
    client, category = JSONClient(member), make_category(member, name="Coffee")
    learned = make_entry(member, memo="바람커피", category=category)
    path = f"{ACCOUNT}/categories/{category.pk}"
    if change == "DELETE":
        path += f"?moveTo={make_category(member, name='Drinks').pk}"
    named = {"name": "Drinks"} if change == "PATCH" else None
    other = send_another(client, change, path, named)
    text = "신한카드(1309)승인 4,800원 11/10 08:31 바람커피"
    # After the suggestion, before the entry refers to the category.
    with call_before("SELECT account_create_entry", other) as changed:
        response = client.send(
            "POST", f"{ACCOUNT}/entries/notification", {"text": text}
        )
    assert response.status_code == 201, response.content
    assert changed.result().status_code in {200, 204}
    names = Category.objects.values_list("name", flat=True)
    assert set(names) == {"Drinks"}
    category_ids = set(Entry.objects.values_list("category_id", flat=True))
    assert category_ids == set(Category.objects.values_list("pk", flat=True))
    learned.refresh_from_db()
    assert_rollups_are_right()


def test_budget_that_moves_into_a_month_that_is_copied_never_deadlocks(
    member: Member,
) -> None:
    # The copy writes the categories in their order, the move against it.
    client = JSONClient(member)
    first, second = make_category(member), make_category(member)
    for category in (first, second):
        make_budget(member, category=category, month=1)
    moved = make_budget(member, category=second, month=2)
    months = {"fromYear": 2026, "fromMonth": 1, "toYear": 2026, "toMonth": 2}
    copy = send_another(client, "POST", f"{ACCOUNT}/budgets/copy", months)
    with call_before('UPDATE "account_budget"', copy) as copied:
        response = client.send(
            "PATCH", f"{ACCOUNT}/budgets/{moved.pk}", {"category": first.name}
        )
    assert (response.status_code, copied.result().status_code) == (200, 200)


def test_tag_that_is_deleted_below_an_entry_with_known_names_leaves_no_link(
    member: Member,
) -> None:
    # The entry is created by one statement, before or after the deletion.
    client, tag = JSONClient(member), make_tag(member, name="old")
    path = f"{ACCOUNT}/entries"
    delete = send_another(client, "DELETE", f"{ACCOUNT}/tags/{tag.pk}")
    with call_before("SELECT account_create_entry", delete) as deleted:
        body = select_known_fields("POST", path, BODY | {"tags": ["old"]})
        response = client.send("POST", path, body)
    assert (response.status_code, deleted.result().status_code) == (201, 204)
    # Its name was created anew.
    assert EntryTag.objects.get().tag == Tag.objects.get()
    assert_rollups_are_right()
