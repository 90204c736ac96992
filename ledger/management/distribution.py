"""Distribute the ledgers over the workers of a Citus cluster (docs/citus.md).

Tables of members' rows are distributed by `member_id`; all others stay on the
coordinator.
"""

from collections.abc import Callable
from graphlib import TopologicalSorter
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from psycopg import sql

from core.db.sessions import open_session
from ledger.models import Ledger

LEDGER_TABLE = Ledger._meta.db_table
Session = psycopg.Connection[tuple[Any, ...]]
Report = Callable[[str], object]

# The trigger that creates ledgers needs no foreign key; Citus allows none from a
# distributed table to one of the coordinator.
_FOREIGN_KEYS_TO_MEMBER = """
SELECT conname FROM pg_constraint
WHERE contype = 'f' AND conrelid = %s::regclass AND confrelid = 'member'::regclass
"""
_REFERENCES = """
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND conrelid <> confrelid
    AND conrelid = ANY (%(tables)s::regclass[])
    AND confrelid = ANY (%(tables)s::regclass[])
"""
_DISTRIBUTED = "SELECT logicalrelid::text FROM pg_dist_partition WHERE partmethod = 'h'"
# Citus copies the rows and leaves them on the coordinator's disk, invisible.
_WITH_LOCAL_ROWS = """
SELECT name FROM unnest(%s::text[]) name WHERE pg_relation_size(name) > 0
"""
_DISABLE_TRIGGERS = sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER")
_ENABLE_TRIGGERS = sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER")
_EXTENSION = "SELECT extname FROM pg_extension WHERE extname = 'citus'"
_WORKERS = """
SELECT nodeid FROM pg_dist_node
WHERE noderole = 'primary' AND isactive AND shouldhaveshards
"""
_STORED_SETTINGS = """
SELECT coalesce(rolname, ''), unnest(setconfig) FROM pg_db_role_setting
LEFT JOIN pg_roles ON pg_roles.oid = setrole
WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_OTHER_SESSIONS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND application_name = current_setting('application_name')
"""
# Citus finds the worker by the values, which one plan for all values lacks.
_PLANNED_ONCE = """
SELECT oid::regprocedure::text FROM pg_proc
WHERE pronamespace = 'public'::regnamespace
    AND 'plan_cache_mode=force_generic_plan' = ANY (proconfig)
"""
# Triggers and statements of the workers call these functions. Citus sends the functions
# that are created after the extension, and those of triggers.
_FUNCTIONS_OF_COORDINATOR = """
SELECT oid::regprocedure::text FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prorettype <> 'trigger'::regtype
    AND NOT EXISTS (
        SELECT FROM pg_dist_object
        WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid
    ) AND NOT EXISTS (
        SELECT FROM pg_depend LEFT JOIN pg_type ON refclassid = 'pg_type'::regclass
            AND pg_type.oid = refobjid
        WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid
            AND (deptype = 'e' OR typrelid <> 0)
    )
"""
_SETTINGS = {
    # The row triggers of the ledger write rows of the row's member only, on the same
    # worker.
    "citus.enable_unsafe_triggers": "on",
    # So do the functions of statements: they read rows of the statement's member only.
    "citus.allow_nested_distributed_execution": "on",
    # `SET LOCAL ledger.is_bulk_write` must reach the triggers.
    "citus.propagate_set_commands": "local",
}


class DistributionError(Exception):
    """The message is one line."""


def distribute(report: Report) -> None:
    """Distribute tables that are not distributed yet, with a report of each step.

    Each step is a transaction. After an interruption the next call continues.
    """
    with open_session(autocommit=True) as session:
        worker_count = _count_workers(session)
        tables = list_distributed_tables()
        session.execute("SET statement_timeout = 0")
        step_count = (
            _change_settings(session, report)
            + _drop_foreign_key_to_member(session, report)
            + _plan_functions_by_values(session, report)
            + _distribute_tables(session, tables, report)
            + _create_functions_on_workers(session, report)
            + _delete_local_rows(session, tables, report)
        )
    if not step_count:
        report("Nothing is left to do.")
    report(f"{len(tables)} tables are distributed over {worker_count} workers.")


def list_distributed_tables() -> list[str]:
    return [
        model._meta.db_table
        for model in apps.get_app_config("ledger").get_models()
        if "member_id" in {field.column for field in model._meta.concrete_fields}
    ]


def _count_workers(session: Session) -> int:
    if not _list_names(session, _EXTENSION):
        raise DistributionError("The database does not have the extension citus.")
    if _list_names(session, "SELECT to_regclass(%s)::text", LEDGER_TABLE) == {None}:
        raise DistributionError("The database has no tables: run migrate first.")
    worker_count = len(_list_names(session, _WORKERS))
    if not worker_count:
        raise DistributionError("No worker is registered: see citus_add_node.")
    return worker_count


def _check_that_service_is_stopped(session: Session) -> None:
    """Refuse to change settings while the service is connected.

    Its sessions would keep the old settings, with which the triggers work for each row
    of a bulk write.
    """
    others = len(_list_names(session, _OTHER_SESSIONS))
    if others:
        raise DistributionError(
            f"The service has {others} sessions in this database: stop it first."
        )


def _change_settings(session: Session, report: Report) -> int:
    """Return the number of changed settings."""
    database, role = session.info.dbname, session.info.user
    of_database = sql.SQL("ALTER DATABASE {}").format(sql.Identifier(database))
    # Limits of a connection do not reach the workers. Statements need none there: the
    # coordinator cancels them.
    of_role = sql.SQL("ALTER ROLE {} IN DATABASE {}").format(
        sql.Identifier(role), sql.Identifier(database)
    )
    lock_timeout = f"{settings.DATABASE_LIMITS['lock_timeout']}ms"
    required = [("", of_database, *setting) for setting in _SETTINGS.items()]
    required.append((role, of_role, "lock_timeout", lock_timeout))
    stored = set(session.execute(_STORED_SETTINGS))
    wrong = [
        each for each in required if (each[0], f"{each[2]}={each[3]}") not in stored
    ]
    if wrong:
        _check_that_service_is_stopped(session)
    for _, owner, name, value in wrong:
        session.execute(
            sql.SQL("{} SET {} = {}").format(owner, sql.SQL(name), sql.Literal(value))
        )
        report(f"{name} = {value}")
    # They hold for later sessions; this one needs the first as well.
    session.execute("SET citus.enable_unsafe_triggers = on")
    return len(wrong)


def _drop_foreign_key_to_member(session: Session, report: Report) -> int:
    names = _list_names(session, _FOREIGN_KEYS_TO_MEMBER, LEDGER_TABLE)
    for name in names:
        session.execute(
            sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(
                sql.Identifier(LEDGER_TABLE), sql.Identifier(name)
            )
        )
        report(f"{LEDGER_TABLE}: foreign key to member dropped")
    return len(names)


def _plan_functions_by_values(session: Session, report: Report) -> int:
    names = _list_names(session, _PLANNED_ONCE)
    for name in sorted(names):
        session.execute(f"ALTER FUNCTION {name} RESET plan_cache_mode")
        report(f"{name}: planned by values")
    return len(names)


def _distribute_tables(session: Session, tables: list[str], report: Report) -> int:
    """Distribute each table after the tables of its foreign keys."""
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(tables, ()))
    for table, referenced in session.execute(_REFERENCES, {"tables": tables}):
        sorter.add(table, referenced)
    distributed = _list_names(session, _DISTRIBUTED)
    left = [table for table in sorter.static_order() if table not in distributed]
    for table in left:
        with session.transaction():
            # The triggers would add the copied rows to the totals again.
            session.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
            session.execute(_DISABLE_TRIGGERS.format(sql.Identifier(table)))
            session.execute(
                "SELECT create_distributed_table(%s, 'member_id', colocate_with => %s)",
                [table, "none" if table == LEDGER_TABLE else LEDGER_TABLE],
            )
            session.execute(_ENABLE_TRIGGERS.format(sql.Identifier(table)))
        report(f"{table}: distributed")
    return len(left)


def _create_functions_on_workers(session: Session, report: Report) -> int:
    names = _list_names(session, _FUNCTIONS_OF_COORDINATOR)
    for name in sorted(names):
        session.execute("SELECT create_distributed_function(%s)", [name])
        report(f"{name}: created on the workers")
    return len(names)


def _delete_local_rows(session: Session, tables: list[str], report: Report) -> int:
    names = _list_names(session, _WITH_LOCAL_ROWS, tables)
    for name in sorted(names):
        session.execute(
            "SELECT truncate_local_data_after_distributing_table(%s)", [name]
        )
        report(f"{name}: local rows deleted")
    return len(names)


def _list_names(session: Session, query: str, *parameters: Any) -> set[Any]:
    return {name for (name,) in session.execute(query, parameters)}
