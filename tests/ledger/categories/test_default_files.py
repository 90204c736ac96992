"""`default_categories export` and `import`, for operators."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ledger.categories.default_files import export_default_categories
from ledger.models import DefaultCategory

pytestmark = pytest.mark.django_db


def run(action: str, path: Path, **options: Any) -> str:
    out = StringIO()
    call_command("default_categories", action, str(path), stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "categories.json"


@pytest.fixture(autouse=True)
def _categories() -> None:
    DefaultCategory.objects.filter(parent__isnull=False).delete()
    DefaultCategory.objects.all().delete()
    food = make("식비", icon="🍜", color="#aa3300", name_en="Food")
    make("외식", parent=food, sort_order=1)
    make("장보기", parent=food, sort_order=2)
    make("급여", type="income")


def make(name: str, **fields: Any) -> DefaultCategory:
    return DefaultCategory.objects.create(
        **{"name": name, "type": "expense", "sort_order": 1} | fields
    )


def read() -> list[Any]:
    return [
        (row["type"], row["name"], [child["name"] for child in row["children"]])
        for row in export_default_categories()
    ]


def write(path: Path, *rows: Any) -> Path:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_export_is_imported_into_an_empty_table_as_it_was(path: Path) -> None:
    before = export_default_categories()
    assert "2 major categories" in run("export", path)
    assert json.loads(path.read_text(encoding="utf-8")) == before
    DefaultCategory.objects.filter(parent__isnull=False).delete()
    DefaultCategory.objects.all().delete()
    assert run("import", path).startswith("4 were created, 0 changed")
    assert export_default_categories() == before
    assert run("import", path).startswith("0 were created, 0 changed; 4 are")


def test_import_creates_changes_orders_and_deletes_nothing(path: Path) -> None:
    food = {"type": "expense", "name": "식비", "icon": "🛒", "nameEn": "Food"}
    children = [{"name": "장보기"}, {"name": "카페"}]
    rows = [{"type": "expense", "name": "주거"}, food | {"children": children}]
    said = run("import", write(path, *rows))
    assert said.startswith("2 were created, 1 changed; 1 are")
    assert read() == [
        ("expense", "주거", []),
        ("expense", "식비", ["장보기", "카페", "외식"]),
        ("income", "급여", []),
    ]
    changed = DefaultCategory.objects.get(name="식비")
    assert (changed.icon, changed.color) == ("🛒", "#aa3300")


def test_dry_run_counts_and_writes_nothing(path: Path) -> None:
    before = read()
    row = {"type": "income", "name": "이자"}
    said = run("import", write(path, row), dry_run=True)
    assert said.startswith("1 would be created, 0 changed")
    assert read() == before


@pytest.mark.parametrize(
    ("row", "place"),
    [
        (
            {"name": "A", "children": [{"name": "B", "children": [{"name": "C"}]}]},
            "0.children.0.children",
        ),
        ({"name": ""}, "0.name"),
        ({"name": "x" * 101}, "0.name"),
        ({"name": "A", "type": "transfer"}, "0.type"),
        ({"name": "A", "color": "red"}, "0.color"),
        ({"name": "A", "children": [{"name": "A"}]}, "0.children.0.name"),
        ({"name": "A", "children": {}}, "0.children"),
        ({"name": "A", "children": [{"name": "식비"}]}, "0.children.0"),
        ({"name": "A", "children": ["B"]}, "0.children.0"),
        ({"name": "A", "extra": 1}, "0.extra"),
        ("A", "0"),
    ],
)
def test_wrong_row_is_named_by_its_place_and_nothing_is_written(
    path: Path, row: Any, place: str
) -> None:
    before = export_default_categories()
    rows = [{"type": "expense", **row} if isinstance(row, dict) else row]
    rows.append({"type": "income", "name": "이자"})
    with pytest.raises(CommandError, match=f"^{place}: "):
        run("import", write(path, *rows))
    assert export_default_categories() == before


@pytest.mark.parametrize("text", ["", "{", "{}", '"a"', "[" * 100_000, "\udcff"])
def test_file_that_is_no_list_is_refused(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CommandError, match=r"no valid JSON|Expected a list"):
        run("import", path)


def test_files_that_are_missing_there_or_too_large_are_refused(path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        run("import", path)
    path.write_text("[]" + " " * 2**20, encoding="utf-8")
    with pytest.raises(CommandError, match="larger than 1 MiB"):
        run("import", path)
    with pytest.raises(CommandError, match="File exists"):
        run("export", path)


def test_too_many_categories_are_refused(path: Path, settings: Any) -> None:
    rows = [{"type": "expense", "name": f"c{number}"} for number in range(2_000)]
    with pytest.raises(CommandError):
        run("import", write(path, *rows))
    assert DefaultCategory.objects.count() == 4
