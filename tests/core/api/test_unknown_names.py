"""Unknown names: suggestions, and the views that take any name (spec 1.3)."""

import pytest

from core.api.unknown_names import OPEN_VIEWS, find_suggestion
from core.api.views import APIView
from tests.support.routes import list_routes


def test_every_view_checks_names_or_is_an_exception() -> None:
    views = {route.view for route in list_routes()}
    names = {view: f"{view.__module__}.{view.__qualname__}" for view in views}
    unchecked = {names[view] for view in views if not issubclass(view, APIView)}
    assert unchecked <= set(OPEN_VIEWS) <= set(names.values())


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        *(("dryrun", "dryRun"), ("dry_run", "dryRun"), ("DRY-RUN", "dryRun")),
        *(("ammount", "amount"), ("amuont", "amount"), ("amonut", "amount")),
        *(("mem", "memo"), ("meno", "memo"), ("nemu", None), ("mood", None)),
        *(("elsewhere", "elsewhere"), ("else_where", "elsewhere")),
        *(("elsewher", None), ("", None), ("\ud800" * 500, None)),
    ],
)
def test_near_name_is_suggested(name: str, suggestion: str | None) -> None:
    known = ["amount", "memo", "dryRun"]
    assert find_suggestion(name, known, ["elsewhere"]) == suggestion
