"""What the layout promises: pure modules, one way of imports, short functions."""

import ast
from functools import cache
from pathlib import Path

import pytest
from rest_framework.views import APIView

from config.api import permissions
from tests.routes import list_routes

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = sorted(
    path.parent.name
    for path in ROOT.glob("*/__init__.py")
    if path.parent.name not in {"tests", "benchmarks"}
)
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)

PURE = (
    "board/content.py",
    "board/pictures.py",
    "config/env.py",
    "config/logs.py",
    "ledger/currencies.py",
    "ledger/encryption.py",
    "ledger/periods.py",
    "ledger/portfolio.py",
    "ledger/schedule.py",
    "ledger/shares.py",
)
"""Arithmetic, text and bytes: no rows, no requests."""
IMPURE = ("django.db", "rest_framework", "django.http")

MODELS_SEEN = {
    "config": set(),
    "accounts": set(),
    "administration": {"accounts"},
    "ledger": {"accounts", "administration"},
    "board": {"accounts"},
    "billing": {"accounts"},
}
"""Whose models an app may import besides its own."""
ORDER = ("config", "accounts", "administration", "ledger", "board", "billing")
LOOKING_UP = {
    ("accounts/erasure.py", "ledger"): "self-deletion spans all apps",
    ("accounts/erasure.py", "billing"): "self-deletion spans all apps",
    ("accounts/erasure.py", "board"): "self-deletion spans all apps",
    ("accounts/signup.py", "administration"): "the sign-up switch",
    ("accounts/identity.py", "administration"): "the sign-up switch",
    ("accounts/views/sessions.py", "administration"): "the sign-up switch",
    ("accounts/tasks.py", "administration"): "the record of what jobs did",
    ("administration/members.py", "billing"): "the plan",
    ("config/paths_as_written.py", "accounts"): "addresses",
    ("config/paths_as_written.py", "ledger"): "addresses",
    ("config/paths_as_written.py", "board"): "addresses",
}
"""The workflows that look the other way, by calling a function."""

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "services", "misc"}
LONGEST_FUNCTION = 40
LONGEST_FILE = 350
PROBLEMS = "config/api/problems.py"
HEALTH = "config/health.py"
"""Its 503 is an answer about health, not a refusal."""


@cache
def read_tree(module: str) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


def imports_of(module: str) -> set[str]:
    """Dotted names; `from a import b` counts as `a` and as `a.b`."""
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


def test_there_is_something_to_look_at():
    assert {"accounts", "administration", "config", "ledger"} <= set(PACKAGES)
    assert set(PACKAGES) <= set(ORDER)
    assert set(PURE) <= set(MODULES)


@pytest.mark.parametrize("module", PURE)
def test_pure_module_imports_neither_orm_nor_drf(module):
    found = {
        name
        for name in imports_of(module)
        if any(is_below(name, impure) for impure in IMPURE) or ".models" in name
    }
    assert found == set()


def test_only_one_module_shapes_an_error_body():
    for module in set(MODULES) - {PROBLEMS}:
        literals = text_literals_of(module)
        assert "application/problem+json" not in literals, module
        assert "about:blank" not in literals, module
        assert "django.http.JsonResponse" not in imports_of(module), module


def test_refusals_are_raised_and_not_answered_by_views():
    for module in set(MODULES) - {PROBLEMS, HEALTH}:
        refused = {
            name
            for name in attributes_of(module)
            if name.startswith(("HTTP_4", "HTTP_5"))
        }
        assert refused == set(), module


def test_no_module_has_a_name_that_says_nothing():
    vague = [
        module
        for module in MODULES
        if VAGUE_NAMES & set(Path(module).with_suffix("").parts)
        or Path(module).stem.endswith("_2")
    ]
    assert vague == []


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_of_models_point_one_way(package):
    allowed = MODELS_SEEN[package] | {package}
    for module in MODULES:
        if not module.startswith(f"{package}/"):
            continue
        seen = {
            app
            for app in PACKAGES
            for name in imports_of(module)
            if is_below(name, f"{app}.models")
        }
        assert seen <= allowed, module


def test_only_named_workflows_look_the_other_way():
    found = {
        (module, app)
        for module in MODULES
        for app in ORDER[ORDER.index(module.split("/")[0]) + 1 :]
        if any(is_below(name, app) for name in imports_of(module))
        and module not in {"config/urls.py"}
    }
    sideways = {
        (module, app)
        for module in MODULES
        for app in ("board", "billing", "ledger")
        if module.split("/")[0] in {"board", "billing", "ledger"} - {app}
        and any(is_below(name, app) for name in imports_of(module))
    }
    assert found | sideways == set(LOOKING_UP)


def test_there_are_no_django_signals():
    for module in MODULES:
        found = {
            name
            for name in imports_of(module)
            if is_below(name, "django.dispatch")
            or (is_below(name, "django") and ".signals" in name)
        }
        assert found == set(), module


def test_no_function_is_long():
    long = [
        f"{module}:{node.lineno} {node.name}"
        for module in MODULES
        for node in ast.walk(read_tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert long == []


def test_no_file_is_long():
    lengths = {
        module: len((ROOT / module).read_text(encoding="utf-8").splitlines())
        for module in MODULES
    }
    assert {m: n for m, n in lengths.items() if n > LONGEST_FILE} == {}


def test_every_module_says_what_belongs_there():
    silent = [
        module
        for module in MODULES
        if read_tree(module).body and not ast.get_docstring(read_tree(module))
    ]
    assert silent == []


def test_every_view_names_exactly_one_access_class():
    known = {getattr(permissions, name) for name in permissions.__all__}
    for view in {route.view for route in list_routes()}:
        if issubclass(view, APIView) and view.__module__.split(".")[0] in PACKAGES:
            assert "permission_classes" in vars(view), view
            assert len(view.permission_classes) == 1, view
            assert set(view.permission_classes) <= known, view
