"""All rows of a member, whatever their tables."""

from django.db import connection

from accounts.models import Member


def dump_rows_of(member: Member) -> list[str]:
    """Return every row of every table that names the member, as text."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND column_name = 'member_id'"
        )
        rows = []
        for (table,) in cursor.fetchall():
            cursor.execute(
                f'SELECT to_jsonb(t)::text FROM "{table}" t WHERE member_id = %s',
                [member.pk],
            )
            rows += [f"{table}: {row}" for (row,) in cursor.fetchall()]
    return sorted(rows)
