"""Conventions of the code that ruff and import-linter cannot check."""

import ast
from functools import cache
from pathlib import Path

import pytest
from rest_framework.views import APIView

from core.api import permissions
from tests.support.routes import list_routes

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = sorted(
    path.parent.name
    for path in ROOT.glob("*/__init__.py")
    if path.parent.name not in {"tests", "benchmarks", "clients"}
)
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)
TESTS = sorted((ROOT / "tests").rglob("*.py"))

# Arithmetic, text and bytes: no rows, no requests.
PURE = (
    "board/content.py",
    "core/image_sandbox.py",
    "config/env.py",
    "core/logging.py",
    "ledger/currencies/codes.py",
    "ledger/base/encryption.py",
    "ledger/imports/column_names.py",
    "ledger/imports/column_words.py",
    "ledger/imports/dates.py",
    "ledger/imports/records.py",
    "ledger/imports/sources/generic.py",
    "ledger/imports/sources/qif.py",
    "ledger/imports/sources/statements.py",
    "ledger/imports/tables.py",
    "ledger/imports/texts.py",
    "ledger/imports/values.py",
    "ledger/periods.py",
    "ledger/investments/cost_basis.py",
    "ledger/models/schedule.py",
)
IMPURE = ("django.db", "rest_framework", "django.http")

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 600
EXCEPTION_HANDLER = "core/api/exception_handler.py"
# Its 503 is a report, not an error.
HEALTH = "core/health.py"


@cache
def read_tree(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


def imports_of(module: str) -> set[str]:
    """Return dotted names; `from a import b` counts as `a` and as `a.b`."""
    names = set()
    for node in ast.walk(read_tree(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = node.module or ""
            names |= {source} | {f"{source}.{alias.name}" for alias in node.names}
    return names


def is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def text_literals_of(module: str) -> set[str]:
    return {
        node.value
        for node in ast.walk(read_tree(module))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def attributes_of(module: str) -> set[str]:
    return {n.attr for n in ast.walk(read_tree(module)) if isinstance(n, ast.Attribute)}


def test_packages_and_modules_are_found() -> None:
    assert {"accounts", "administration", "core", "ledger"} <= set(PACKAGES)
    assert set(PURE) <= set(MODULES)


@pytest.mark.parametrize("module", PURE)
def test_pure_module_imports_neither_orm_nor_drf(module: str) -> None:
    found = {
        name
        for name in imports_of(module)
        if any(is_below(name, impure) for impure in IMPURE) or ".models" in name
    }
    assert found == set()


def test_only_one_module_shapes_an_error_body() -> None:
    for module in set(MODULES) - {EXCEPTION_HANDLER}:
        literals = text_literals_of(module)
        assert "application/problem+json" not in literals, module
        assert "about:blank" not in literals, module
        assert "django.http.JsonResponse" not in imports_of(module), module


def test_errors_are_raised_and_not_returned_by_views() -> None:
    for module in set(MODULES) - {EXCEPTION_HANDLER, HEALTH}:
        statuses = {
            name
            for name in attributes_of(module)
            if name.startswith(("HTTP_4", "HTTP_5"))
        }
        assert statuses == set(), module


def test_no_module_has_a_vague_name() -> None:
    vague = [
        module
        for module in MODULES
        if VAGUE_NAMES & set(Path(module).with_suffix("").parts)
        or Path(module).stem.endswith("_2")
    ]
    assert vague == []


def test_there_are_no_django_signals() -> None:
    for module in MODULES:
        found = {
            name
            for name in imports_of(module)
            if is_below(name, "django.dispatch")
            or (is_below(name, "django") and ".signals" in name)
        }
        assert found == set(), module


def test_no_function_is_long() -> None:
    long = [
        f"{module}:{node.lineno} {node.name}"
        for module in MODULES
        for node in ast.walk(read_tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_no_file_is_long() -> None:
    lengths = {
        module: len((ROOT / module).read_text(encoding="utf-8").splitlines())
        for module in MODULES
    }
    assert {m: n for m, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_every_module_has_a_docstring() -> None:
    undocumented = [
        module
        for module in MODULES
        if read_tree(module).body and not ast.get_docstring(read_tree(module))
    ]
    assert undocumented == []


def test_constants_are_explained_by_comments_and_not_by_strings() -> None:
    files = [*MODULES, *(p.relative_to(ROOT).as_posix() for p in TESTS)]
    strings = [
        f"{file}:{statement.lineno}"
        for file in files
        for node in ast.walk(read_tree(file))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for statement in node.body[1:]
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    ]
    assert strings == []


def test_every_view_names_exactly_one_access_class() -> None:
    known = {getattr(permissions, name) for name in permissions.__all__}
    for view in {route.view for route in list_routes()}:
        if issubclass(view, APIView) and view.__module__.split(".")[0] in PACKAGES:
            assert "permission_classes" in vars(view), view
            assert len(view.permission_classes) == 1, view
            assert set(view.permission_classes) <= known, view
