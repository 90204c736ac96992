"""A guard of the ledger's SQL: each statement concerns one member's rows.

Every table of members' rows must be bound to the member wherever a statement reads or
changes it. Each query, also one within another, compares the `member_id` of one of its
tables with a parameter, and those of the others with it. So no statement of a request
reads the rows of two members (spec 1.8), and each goes to one node where the tables are
distributed by member (docs/scaling.md).
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache, lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

import pglast
from django.apps import apps
from django.db import connection
from pglast import ast

ROOT = Path(__file__).parents[2]
PLACEHOLDER = re.compile(r"%(?:\(\w+\))?s")
# Modules whose statements concern all members, with their reason.
OF_ALL_MEMBERS = {
    "ledger/rollups/repair.py": "lists all ledgers to check their totals",
    "ledger/rollups/definitions.py": "joins totals with what was computed for one member",
    "administration/request_keys.py": "deletes the old keys of a range of members",
    "administration/imports.py": "deletes the old ones of a range of members",
    "administration/operations.py": "deletes the old ones of a range of members",
    "administration/tombstones.py": "deletes the old ones of a range of members",
    "administration/unsure_texts.py": "deletes the old ones of a range of members",
    "administration/management/commands/rotate_secrets_key.py": "seals all again",
    "ledger/wallets/key_rotation.py": "lists the members with account numbers",
    "ledger/cards/automatic_payments.py": "lists the cards that are due",
    "ledger/recurring/occurrences.py": "lists the rules that are due",
    "administration/daily_metrics.py": "counts the entries of all members",
    "administration/dashboard.py": "counts the entries of all members",
}
# Modules that send the statements of others.
HELPERS = {"core/db/rows.py", "ledger/models/base.py"}


TESTS = "tests"
PARAMETER = object()
AND, EXISTS_SUBLINK = 0, 0


class UnboundTableError(AssertionError):
    """A statement reads or changes rows of members without naming the member."""


def guard_statements() -> AbstractContextManager[Any]:
    """Check every statement of the service, on the connection of this thread."""
    return connection.execute_wrapper(_check_statement)


def _check_statement(
    execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any
) -> Any:
    if isinstance(sql, str):
        unbound = find_unbound_tables(sql)
        module = _find_module() if unbound else TESTS
        if module != TESTS and module not in OF_ALL_MEMBERS:
            raise UnboundTableError(f"{', '.join(unbound)} without member_id: {sql}")
    return execute(sql, params, many, context)


def _find_module() -> str | None:
    """Return the module of the service that sent the statement, or TESTS."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and ".venv" not in path.parts:
            name = path.relative_to(ROOT).as_posix()
            if name.startswith("tests/"):
                return TESTS
            if name not in HELPERS:
                return name
        frame = frame.f_back
    return None


@cache
def list_owned_tables() -> frozenset[str]:
    return frozenset(
        model._meta.db_table
        for model in apps.get_app_config("ledger").get_models()
        if "member_id" in {field.column for field in model._meta.concrete_fields}
    )


@lru_cache(maxsize=20_000)
def find_unbound_tables(sql: str) -> tuple[str, ...]:
    """Return the tables of members that the statement does not bind to a member."""
    if not any(table in sql for table in list_owned_tables()):
        return ()
    text = PLACEHOLDER.sub("$1", sql).replace("%%", "%")
    statement = pglast.parse_sql(text)
    return tuple(sorted(table for raw in statement for table in _unbound(raw.stmt)))


def _unbound(node: Any, *, is_exists: bool = False) -> Iterator[str]:
    """Yield the unbound tables of a statement.

    A table is bound if its `member_id` equals that of another table, and one of the
    query's equals a parameter, or, within EXISTS, a column of the query around it.
    """
    if isinstance(node, tuple):
        for each in node:
            yield from _unbound(each)
        return
    if not isinstance(node, ast.Node):
        return
    if isinstance(node, ast.InsertStmt):
        table: Any = node.relation
        columns = {column.name for column in node.cols or ()}
        if table.relname in list_owned_tables() and "member_id" not in columns:
            yield table.relname
    elif isinstance(node, ast.SelectStmt | ast.UpdateStmt | ast.DeleteStmt):
        yield from _unbound_in_query(node, is_exists=is_exists)
    for name in node:
        is_exists = isinstance(node, ast.SubLink) and node.subLinkType == EXISTS_SUBLINK
        yield from _unbound(getattr(node, name), is_exists=is_exists)


def _unbound_in_query(query: Any, *, is_exists: bool) -> Iterator[str]:
    """Yield the unbound tables of one query, not those of queries in it."""
    tables: list[Any] = []
    conditions: list[Any] = [query.whereClause]
    if not isinstance(query, ast.SelectStmt):
        tables.append(query.relation)
    for clause in ("fromClause", "usingClause"):
        for source in getattr(query, clause, None) or ():
            _collect(source, tables, conditions)
    owned = {
        _alias(table): table.relname
        for table in tables
        if table.relname in list_owned_tables()
    }
    pairs = [pair for each in conditions for pair in _list_comparisons(each)]
    # A column without an alias belongs to the only table.
    only = next(iter(owned), "") if len(tables) == 1 else ""
    bound = {alias or only for alias, other in pairs if other is PARAMETER}
    if is_exists:
        bound |= {alias for alias, other in pairs if other not in owned}
    if bound:
        bound |= {alias for alias, other in pairs if other in owned}
    for alias, table in owned.items():
        if alias not in bound:
            yield table


def _collect(source: Any, tables: list[Any], conditions: list[Any]) -> None:
    """Add the tables and join conditions of an item of a FROM clause."""
    if isinstance(source, ast.RangeVar):
        tables.append(source)
    elif isinstance(source, ast.JoinExpr):
        _collect(source.larg, tables, conditions)
        _collect(source.rarg, tables, conditions)
        conditions.append(source.quals)


def _alias(table: ast.RangeVar) -> str:
    return str(table.alias.aliasname if table.alias else table.relname)


def _list_comparisons(condition: Any) -> Iterator[tuple[str, Any]]:
    """Yield each alias whose `member_id` must equal something, with that.

    It is the alias of the other `member_id`, or PARAMETER.
    """
    if isinstance(condition, ast.BoolExpr) and condition.boolop == AND:
        for each in condition.args or ():
            yield from _list_comparisons(each)
    elif isinstance(condition, ast.A_Expr):
        left, right = condition.lexpr, condition.rexpr
        # `member_id IN (%s)`, as Django deletes a row with what depends on it.
        if isinstance(right, tuple) and len(right) == 1:
            (right,) = right
        operator: Any = condition.name
        if operator[-1].sval != "=":
            return
        for side, other in ((left, right), (right, left)):
            alias = _alias_of_member_id(side)
            if alias is None:
                continue
            if isinstance(other, ast.ParamRef | ast.A_Const | ast.TypeCast):
                yield alias, PARAMETER
            elif _alias_of_member_id(other) is not None:
                yield alias, _alias_of_member_id(other)


def _alias_of_member_id(node: Any) -> str | None:
    """Return the alias of a column `member_id`, "" without one, else None."""
    if not isinstance(node, ast.ColumnRef):
        return None
    names = [str(getattr(field, "sval", "*")) for field in node.fields or ()]
    if names[-1] != "member_id":
        return None
    return names[0] if len(names) > 1 else ""
