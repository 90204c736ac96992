"""The catalogue of a database: tables, constraints, indexes, functions, triggers."""

from typing import Any

import psycopg

Rows = list[tuple[Any, ...]]
CATALOG = {
    "columns": """
        SELECT table_name, column_name, data_type, is_nullable, column_default,
               generation_expression, character_maximum_length
        FROM information_schema.columns WHERE table_schema = 'public'
    """,
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    """,
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "functions": """
        SELECT oid::regprocedure::text, pg_get_functiondef(oid) FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
    """,
    "triggers": """
        SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    """,
    "options": """
        SELECT relname, reloptions FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND reloptions IS NOT NULL
    """,
    "extensions": "SELECT extname FROM pg_extension",
}


def ask(database_url: str, statement: str) -> Rows:
    with psycopg.connect(database_url) as connection:
        return sorted(connection.execute(statement).fetchall(), key=repr)


def read_catalog(database_url: str) -> dict[str, Rows]:
    return {name: ask(database_url, query) for name, query in CATALOG.items()}
