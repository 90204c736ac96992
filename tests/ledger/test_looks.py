"""Icons and colours of wallets, categories, default categories and tags (spec 3.21)."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Member
from ledger.models import Category, DefaultCategory, Tag, Wallet
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import make_category, make_tag, make_wallet
from tests.support.problems import assert_invalid
from tests.support.workbooks import download_backup, read_book, send_json, upload

pytestmark = pytest.mark.django_db

ACCOUNT = "/api/account"
DEFAULTS = "/api/admin/default-categories"
LOOK = {"icon": "🍜", "color": "#ef6c00"}
NO_LOOK = {"icon": None, "color": None}


@pytest.fixture
def client(premium_member: Member) -> JSONClient:
    return JSONClient(premium_member)


def test_capital_digits_become_small_ones(client: JSONClient) -> None:
    body = {"name": "Cash", "kind": "CASH", "color": "#EF6C00"}
    assert client.create_json(f"{ACCOUNT}/wallets", body)["color"] == "#ef6c00"


@pytest.mark.parametrize("make", [make_wallet, make_category, make_tag])
@pytest.mark.parametrize(
    "wrong", [{"icon": ""}, {"color": "red"}, {"color": "#EF6C00"}]
)
def test_database_has_no_other_looks(
    premium_member: Member, make: Any, wrong: dict[str, str]
) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make(premium_member, **wrong)


def test_default_category_gives_its_look_to_the_import(
    client: JSONClient, administrator: Member, client_of: ClientOf
) -> None:
    staff = client_of(administrator)
    body = {"name": "배달 음식", "type": "expense"}
    row = staff.create_json(DEFAULTS, body | LOOK)
    assert row.items() >= LOOK.items()
    own = f"{DEFAULTS}/{row['id']}"
    assert staff.change_json("PUT", own, body).items() >= LOOK.items()
    assert_invalid(staff.send("PATCH", own, {"color": "#12345"}), "color")
    assert_invalid(staff.send("PATCH", own, {"icon": "x" * 41}), "icon")
    client.change_json("POST", f"{ACCOUNT}/categories/import", {})
    imported = Category.objects.get(name="배달 음식")
    assert {"icon": imported.icon, "color": imported.color} == LOOK
    # A later change of the default is no change of the member's.
    staff.change_json("PATCH", own, NO_LOOK)
    assert DefaultCategory.objects.get(pk=row["id"]).icon is None
    imported.refresh_from_db()
    assert imported.icon == LOOK["icon"]


def test_backup_brings_looks_back(client: JSONClient, premium_member: Member) -> None:
    make_wallet(premium_member, name="Cash", **LOOK)
    make_category(premium_member, name="Food", **LOOK)
    make_tag(premium_member, name="trip", **LOOK)
    make_tag(premium_member, name="work")
    content = download_backup(premium_member)
    book = read_book(content)
    assert {"icon", "color"} <= set(book["wallets"][0])
    response = upload(client, content)
    assert response.status_code == 200, response.content
    for model, name in ((Wallet, "Cash"), (Category, "Food"), (Tag, "trip")):
        found: Any = model.objects.get(name=name)
        assert {"icon": found.icon, "color": found.color} == LOOK
    assert Tag.objects.get(name="work").icon is None


@pytest.mark.parametrize(
    ("look", "stored"),
    [
        ({}, (None, None)),
        ({"icon": None, "color": None}, (None, None)),
        ({"icon": "", "color": ""}, (None, None)),
        ({"icon": "  ", "color": "  "}, (None, None)),
        ({"icon": " a ", "color": "#EF6C00"}, ("a", "#ef6c00")),
    ],
)
def test_rows_of_a_restore_may_lack_looks(
    client: JSONClient, look: dict[str, Any], stored: tuple[Any, ...]
) -> None:
    response = send_json(client, {"tags": [{"name": "trip"} | look]})
    assert response.status_code == 200, response.content
    assert Tag.objects.values_list("icon", "color").get() == stored


@pytest.mark.parametrize("look", [{"icon": "x" * 41}, {"color": "#12345"}])
def test_wrong_look_is_a_bad_row(client: JSONClient, look: dict[str, Any]) -> None:
    response = send_json(client, {"tags": [{"name": "trip"} | look]})
    assert response.status_code == 400, response.content
    (error,) = response.data["errors"]
    assert (error["sheet"], error["row"], error["column"]) == (
        "tags",
        2,
        next(iter(look)),
    )
    assert not Tag.objects.exists()
