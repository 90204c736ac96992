"""Totals by day and by tag, and one row per member that a write takes first.

Writers of one member's totals queue at their `account_ledger_total`: an entry is
written before its tags and deleted after them, so that without it the two would wait
for each other's totals. The link of a tag is never left behind by its entry: whoever
deletes entries deletes their links first, while the entries still tell the amounts.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

MONTH = "date - (extract(day FROM date)::int - 1)"
COLUMNS = "id, member_id, date, type, pending, category_id, wallet_id, amount"
ENTRIES_ADDED = f"SELECT 1 AS sign, {COLUMNS} FROM added"
ENTRIES_REMOVED = f"SELECT -1 AS sign, {COLUMNS} FROM removed"
OF_ENTRIES = """
    INSERT INTO account_ledger_total AS kept (member_id, entries, pending)
    SELECT member_id, sum(sign), coalesce(sum(sign) FILTER (WHERE pending), 0)
    FROM ({changed}) changed
    GROUP BY 1
    ORDER BY 1
    ON CONFLICT (member_id)
    DO UPDATE SET entries = kept.entries + excluded.entries,
                  pending = kept.pending + excluded.pending;

    WITH changed AS MATERIALIZED (
        SELECT member_id, date, {month} AS month, type, pending, category_id,
               wallet_id, sum(sign * amount) AS amount, sum(sign) AS entries
        FROM ({changed}) changed
        GROUP BY 1, 2, 3, 4, 5, 6, 7
        HAVING sum(sign * amount) <> 0 OR sum(sign) <> 0
    ), by_month AS (
        INSERT INTO account_month_total AS kept
            (member_id, month, type, pending, amount, entries)
        SELECT member_id, month, type, pending, sum(amount), sum(entries)
        FROM changed
        GROUP BY 1, 2, 3, 4
        HAVING sum(amount) <> 0 OR sum(entries) <> 0
        ON CONFLICT (member_id, month, type, pending)
        DO UPDATE SET amount = kept.amount + excluded.amount,
                      entries = kept.entries + excluded.entries
    ), by_day AS (
        INSERT INTO account_day_total AS kept
            (member_id, date, type, pending, wallet_id, amount, entries)
        SELECT member_id, date, type, pending, wallet_id, sum(amount), sum(entries)
        FROM changed
        GROUP BY 1, 2, 3, 4, 5
        HAVING sum(amount) <> 0 OR sum(entries) <> 0
        ON CONFLICT (member_id, date, type, pending, wallet_id)
        DO UPDATE SET amount = kept.amount + excluded.amount,
                      entries = kept.entries + excluded.entries
    ), by_wallet AS (
        INSERT INTO account_wallet_total AS kept
            (wallet_id, member_id, balance, entries)
        SELECT wallet_id, member_id,
               coalesce(sum(CASE type WHEN 'income' THEN amount ELSE -amount END)
                        FILTER (WHERE NOT pending), 0),
               sum(entries)
        FROM changed
        WHERE wallet_id IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (wallet_id)
        DO UPDATE SET balance = kept.balance + excluded.balance,
                      entries = kept.entries + excluded.entries
    )
    INSERT INTO account_entry_total AS kept
        (member_id, month, type, pending, category_id, wallet_id, amount, entries)
    SELECT member_id, month, type, pending, category_id, wallet_id,
           sum(amount), sum(entries)
    FROM changed
    GROUP BY 1, 2, 3, 4, 5, 6
    HAVING sum(amount) <> 0 OR sum(entries) <> 0
    ON CONFLICT (member_id, month, type, pending, category_id, wallet_id)
    DO UPDATE SET amount = kept.amount + excluded.amount,
                  entries = kept.entries + excluded.entries;
"""
OF_TAGS = """
    INSERT INTO account_tag_total AS kept
        (member_id, month, tag_id, type, amount, entries)
    SELECT changed.member_id, {month}, changed.tag_id, changed.type,
           sum(sign * changed.amount), sum(sign)
    FROM ({changed}) changed
    JOIN account_tag tag ON tag.id = changed.tag_id
    WHERE NOT changed.pending
    GROUP BY 1, 2, 3, 4
    HAVING sum(sign * changed.amount) <> 0 OR sum(sign) <> 0
    ON CONFLICT (member_id, month, tag_id, type)
    DO UPDATE SET amount = kept.amount + excluded.amount,
                  entries = kept.entries + excluded.entries;
"""
"""A tag that goes together with its links has no totals any more: hence its join."""
TAKE_LEDGERS = """
    PERFORM FROM account_ledger_total
    WHERE member_id IN (SELECT member_id FROM ({changed}) changed)
    ORDER BY member_id
    FOR NO KEY UPDATE;
"""
TAGS_OF_CHANGED = """
    SELECT changed.*, link.tag_id FROM ({changed}) changed
    JOIN account_entry_tag link ON link.entry_id = changed.id
"""
LINK = """
    SELECT {sign} AS sign, link.member_id, link.tag_id,
           entry.date, entry.type, entry.amount, entry.pending
    FROM {rows} link JOIN account_entry entry ON entry.id = link.entry_id
"""
LINKS_ADDED = LINK.format(sign=1, rows="added")
LINKS_REMOVED = LINK.format(sign=-1, rows="removed")
FUNCTION = """
CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
{body}
    RETURN NULL;
END
$$;
"""
"""One plan serves all calls of a connection: its joins must fit a single row as well
as a whole restore, so they look up by key."""
TRIGGER = """
CREATE TRIGGER {name} AFTER {event} ON {table} REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION {name}();
"""
TABLES = {
    "insert": "NEW TABLE AS added",
    "update": "NEW TABLE AS added OLD TABLE AS removed",
    "delete": "OLD TABLE AS removed",
}
REFERENCES = """
ALTER TABLE account_day_total ADD CONSTRAINT account_day_total_wallet_owned
FOREIGN KEY (member_id, wallet_id) REFERENCES account (member_id, id)
ON DELETE CASCADE;
ALTER TABLE account_tag_total ADD CONSTRAINT account_tag_total_tag_owned
FOREIGN KEY (member_id, tag_id) REFERENCES account_tag (member_id, id)
ON DELETE CASCADE;
ALTER TABLE account_entry_tag
DROP CONSTRAINT account_entry_tag_entry_owned,
ADD CONSTRAINT account_entry_tag_entry_owned
FOREIGN KEY (member_id, entry_id) REFERENCES account_entry (member_id, id);
"""
FILL = f"""
INSERT INTO account_ledger_total (member_id, entries, pending)
SELECT member_id, count(*), count(*) FILTER (WHERE pending)
FROM account_entry GROUP BY 1;
INSERT INTO account_day_total
    (member_id, date, type, pending, wallet_id, amount, entries)
SELECT member_id, date, type, pending, wallet_id, sum(amount), count(*)
FROM account_entry GROUP BY 1, 2, 3, 4, 5;
INSERT INTO account_tag_total (member_id, month, tag_id, type, amount, entries)
SELECT entry.member_id, {MONTH}, link.tag_id, type, sum(amount), count(*)
FROM account_entry entry JOIN account_entry_tag link ON link.entry_id = entry.id
WHERE NOT pending GROUP BY 1, 2, 3, 4;
"""


def both(added: str, removed: str) -> dict[str, str]:
    """What each event adds and takes away, as rows with a sign."""
    return {
        "insert": added,
        "update": f"{added} UNION ALL {removed}",
        "delete": removed,
    }


def functions_of_entries() -> str:
    sql = ""
    for event, changed in both(ENTRIES_ADDED, ENTRIES_REMOVED).items():
        body = OF_ENTRIES.format(changed=changed, month=MONTH)
        if event == "update":
            tagged = TAGS_OF_CHANGED.format(changed=changed)
            body += OF_TAGS.format(changed=tagged, month=MONTH)
        sql += FUNCTION.format(name=f"account_entry_totals_{event}", body=body)
    return sql


def triggers_of_links() -> str:
    sql = ""
    for event, changed in both(LINKS_ADDED, LINKS_REMOVED).items():
        name = f"account_entry_tag_totals_{event}"
        body = (TAKE_LEDGERS + OF_TAGS).format(changed=changed, month=MONTH)
        sql += FUNCTION.format(name=name, body=body)
        sql += TRIGGER.format(
            name=name, event=event, table="account_entry_tag", tables=TABLES[event]
        )
    return sql


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_plan_since'),
        ('ledger', '0006_stock_quotes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='LedgerTotal',
            fields=[
                ('member', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('entries', models.IntegerField()),
                ('pending', models.IntegerField()),
            ],
            options={
                'db_table': 'account_ledger_total',
                'ordering': ['member_id'],
            },
        ),
        migrations.CreateModel(
            name='DayTotal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type', models.CharField(choices=[('income', 'Income'), ('expense', 'Expense')], max_length=7)),
                ('amount', models.BigIntegerField()),
                ('entries', models.IntegerField()),
                ('date', models.DateField()),
                ('pending', models.BooleanField()),
                ('wallet_id', models.BigIntegerField(null=True)),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'account_day_total',
                'ordering': ['date', 'id'],
                'constraints': [models.UniqueConstraint(fields=('member', 'date', 'type', 'pending', 'wallet_id'), name='account_day_total_key', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='TagTotal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type', models.CharField(choices=[('income', 'Income'), ('expense', 'Expense')], max_length=7)),
                ('amount', models.BigIntegerField()),
                ('entries', models.IntegerField()),
                ('month', models.DateField()),
                ('tag_id', models.BigIntegerField()),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'account_tag_total',
                'ordering': ['month', 'id'],
                'constraints': [models.UniqueConstraint(fields=('member', 'month', 'tag_id', 'type'), name='account_tag_total_key')],
            },
        ),
        migrations.RunSQL(REFERENCES),
        migrations.RunSQL(FILL),
        migrations.RunSQL(functions_of_entries()),
        migrations.RunSQL(triggers_of_links()),
    ]
