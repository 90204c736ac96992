"""The shared default categories, and their import into a member's own."""

from typing import Any

import pytest
from django.apps import apps

from accounts.models import Member
from ledger.migrations._0001_default_categories import insert_default_categories
from ledger.models import Category, DefaultCategory
from tests.support.clients import JSONClient
from tests.support.factories import make_category

CATEGORIES = "/api/account/categories"
IMPORT = "/api/account/categories/import"


@pytest.fixture(autouse=True)
def _default_set(db: None) -> None:
    """Insert the default categories again after a test that emptied their table."""
    if not DefaultCategory.objects.exists():
        insert_default_categories(apps, None)  # type: ignore[no-untyped-call]


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


def copy_defaults(client: JSONClient, body: Any = None, path: Any = IMPORT) -> Any:
    response = client.send("POST", path, body)
    assert response.status_code == 200, response.content
    assert set(response.data) == {"imported", "skipped"}
    return response.data["imported"], response.data["skipped"]


def read_tree(rows: Any, name: str = "name") -> list[Any]:
    """Type, parent's name and name of each, in their order."""
    by_id = {row["id"]: row for row in rows}
    return [
        (
            row["type"],
            by_id[row["parentId"]][name] if row["parentId"] else None,
            row[name],
        )
        for row in rows
    ]


def read_defaults(name: str = "name") -> Any:
    rows = [
        {
            "id": row.pk,
            "type": row.type,
            "parentId": row.parent_id,
            "place": row.sort_order,
            name: getattr(row, name),
        }
        for row in DefaultCategory.objects.all()
    ]
    return sorted(read_tree(rows, name), key=str)


# --- the set ------------------------------------------------------------------


@pytest.mark.django_db
def test_default_set_is_sensible() -> None:
    defaults = list(DefaultCategory.objects.select_related("parent"))
    majors = [row for row in defaults if row.parent is None]
    assert {row.type for row in majors} == {"income", "expense"}
    assert 5 <= len(majors) <= 20
    assert 20 <= len(defaults) <= 80
    for row in defaults:
        assert row.name.strip() == row.name != ""
        assert row.name_en.strip() == row.name_en != ""
        if row.parent:
            assert row.parent.type == row.type
            assert row.parent.parent is None


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["name", "name_en"])
def test_default_set_has_no_duplicates_in_either_language(name: str) -> None:
    names = list(DefaultCategory.objects.values_list("type", name))
    assert len(names) == len(set(names))


@pytest.mark.django_db
def test_default_set_has_an_order_without_ties() -> None:
    places = list(DefaultCategory.objects.values_list("type", "parent", "sort_order"))
    assert len(places) == len(set(places))


# --- import -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (None, "name"),
        ({}, "name"),
        ({"language": "ko"}, "name"),
        ({"language": "en"}, "name_en"),
    ],
)
def test_import_copies_all_defaults_with_their_hierarchy(
    client: JSONClient, body: dict[str, Any] | None, name: str
) -> None:
    assert copy_defaults(client, body) == (DefaultCategory.objects.count(), 0)
    assert sorted(read_tree(client.get_json(CATEGORIES)), key=str) == read_defaults(
        name
    )


def test_import_keeps_the_order(client: JSONClient) -> None:
    copy_defaults(client)
    for type_ in ("income", "expense"):
        majors = DefaultCategory.objects.filter(type=type_, parent=None)
        expected = []
        for major in majors.order_by("sort_order"):
            minors = major.minors.order_by("sort_order")
            expected += [major.name, *minors.values_list("name", flat=True)]
        rows = client.get_json(CATEGORIES, type=type_)
        assert [row["name"] for row in rows] == expected


@pytest.mark.parametrize("path", [IMPORT, "/account/categories/import"])
def test_import_answers_at_each_of_its_addresses(client: JSONClient, path: Any) -> None:
    assert copy_defaults(client, path=path)[0] > 0


def test_second_import_skips_everything(client: JSONClient) -> None:
    total, _ = copy_defaults(client)
    before = client.get_json(CATEGORIES)
    assert copy_defaults(client) == (0, total)
    assert client.get_json(CATEGORIES) == before


def test_import_in_the_other_language_adds_its_own_names(client: JSONClient) -> None:
    total, _ = copy_defaults(client)
    assert copy_defaults(client, {"language": "en"}) == (total, 0)


def test_import_skips_names_that_the_member_has(
    client: JSONClient, free_member: Member
) -> None:
    total = DefaultCategory.objects.count()
    minor = DefaultCategory.objects.filter(type="expense").exclude(parent=None)[0]
    own = make_category(free_member, name=minor.name, sort_order=70)
    assert copy_defaults(client) == (total - 1, 1)
    own.refresh_from_db()
    assert (own.parent, own.sort_order) == (None, 70)


def test_same_name_of_the_other_type_is_not_skipped(
    client: JSONClient, free_member: Member
) -> None:
    total = DefaultCategory.objects.count()
    name = DefaultCategory.objects.filter(type="expense")[0].name
    assert not DefaultCategory.objects.filter(type="income", name=name).exists()
    make_category(free_member, name=name, type="income")
    assert copy_defaults(client) == (total, 0)


def test_minor_ones_of_a_skipped_major_go_under_the_members_own(
    client: JSONClient, free_member: Member
) -> None:
    major = DefaultCategory.objects.filter(minors__isnull=False)[0]
    own = make_category(free_member, name=major.name, type=major.type)
    copy_defaults(client)
    minors = Category.objects.filter(parent=own)
    assert {row.name for row in minors} == {row.name for row in major.minors.all()}


def test_import_never_makes_a_third_level(
    client: JSONClient, free_member: Member
) -> None:
    # The member keeps a minor one by the name of a default major.
    major = DefaultCategory.objects.filter(minors__isnull=False)[0]
    home = make_category(free_member, name="Home", type=major.type)
    own = make_category(free_member, name=major.name, type=major.type, parent=home)
    copy_defaults(client)
    own.refresh_from_db()
    assert own.parent == home
    assert not Category.objects.filter(parent__parent__isnull=False).exists()
    for name in major.minors.values_list("name", flat=True):
        assert Category.objects.filter(name=name, parent=home).exists()


def test_imported_categories_go_behind_the_members_own(
    client: JSONClient, free_member: Member
) -> None:
    make_category(free_member, name="Mine", sort_order=500)
    copy_defaults(client)
    rows = client.get_json(CATEGORIES, type="expense")
    assert rows[0]["name"] == "Mine"


def test_import_touches_nobody_elses_categories(
    client: JSONClient, other_member: Member
) -> None:
    theirs = make_category(other_member, name=DefaultCategory.objects.all()[0].name)
    copy_defaults(client)
    rows = Category.objects.owned_by(other_member)
    assert list(rows) == [theirs]


def test_later_changes_of_the_defaults_leave_the_copies_alone(
    client: JSONClient,
) -> None:
    copy_defaults(client)
    before = client.get_json(CATEGORIES)
    DefaultCategory.objects.filter(parent=None).update(name_en="x")
    DefaultCategory.objects.exclude(parent=None).delete()
    assert client.get_json(CATEGORIES) == before


def test_import_without_any_defaults_imports_nothing(client: JSONClient) -> None:
    DefaultCategory.objects.exclude(parent=None).delete()
    DefaultCategory.objects.all().delete()
    assert copy_defaults(client) == (0, 0)


def test_default_without_an_english_name_is_copied_by_its_own(
    client: JSONClient,
) -> None:
    DefaultCategory.objects.exclude(parent=None).delete()
    DefaultCategory.objects.all().delete()
    DefaultCategory.objects.create(type="expense", name="식비")
    assert copy_defaults(client, {"language": "en"}) == (1, 0)
    assert client.get_json(CATEGORIES)[0]["name"] == "식비"


@pytest.mark.parametrize("language", ["fr", "", 5, True, [], {}])
def test_import_in_an_unknown_language_is_refused(
    client: JSONClient, language: Any
) -> None:
    response = client.send("POST", IMPORT, {"language": language})
    assert response.status_code == 400, response.content
    assert response.data["errors"][0]["field"] == "language"
    assert Category.objects.count() == 0


def test_no_categories_are_copied_at_sign_up(client: JSONClient) -> None:
    assert client.get_json(CATEGORIES) == []
