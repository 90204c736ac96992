"""Notifications, and the totals by memo from which categories are learned.

Their triggers run after those of the other totals (by name), when the writer already
has the member's `account_ledger_total`.
"""

import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

COLUMNS = r"""
    member_id, type, translate(lower(memo), E' \t\n\u00a0\u3000', '') AS memo, category_id
"""
KNOWN = "WHERE NOT pending AND category_id IS NOT NULL AND memo <> ''"
ADDED = f"SELECT 1 AS sign, {COLUMNS} FROM added {KNOWN}"
REMOVED = f"SELECT -1 AS sign, {COLUMNS} FROM removed {KNOWN}"
EVENTS = {
    "insert": (ADDED, "NEW TABLE AS added"),
    "update": (
        f"{ADDED} UNION ALL {REMOVED}",
        "NEW TABLE AS added OLD TABLE AS removed",
    ),
    "delete": (REMOVED, "OLD TABLE AS removed"),
}
BODY = """
CREATE FUNCTION account_entry_words_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_memo_total AS kept
        (member_id, type, memo, category_id, entries)
    SELECT member_id, type, memo, category_id, sum(sign)
    FROM ({changed}) changed
    WHERE memo <> ''
    GROUP BY 1, 2, 3, 4
    HAVING sum(sign) <> 0
    ON CONFLICT (member_id, type, memo, category_id)
    DO UPDATE SET entries = kept.entries + excluded.entries;
    RETURN NULL;
END
$$;

CREATE TRIGGER account_entry_words_{event}
AFTER {event} ON account_entry
REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_words_{event}();
"""
FILL = f"""
INSERT INTO account_memo_total (member_id, type, memo, category_id, entries)
SELECT member_id, type, memo, category_id, count(*)
FROM (SELECT {COLUMNS} FROM account_entry {KNOWN}) known
WHERE memo <> '' GROUP BY 1, 2, 3, 4
"""
OWNED = """
ALTER TABLE account_memo_total ADD CONSTRAINT account_memo_total_category_owned
FOREIGN KEY (member_id, type, category_id)
REFERENCES account_category (member_id, type, id) ON DELETE CASCADE
"""


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0007_day_and_tag_totals'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='MemoTotal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('type', models.CharField(choices=[('income', 'Income'), ('expense', 'Expense')], max_length=7)),
                ('memo', models.CharField(max_length=500)),
                ('category_id', models.BigIntegerField()),
                ('entries', models.IntegerField()),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'account_memo_total',
                'ordering': ['id'],
                'indexes': [django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.indexes.OpClass('member_id', name='int8_ops'), django.contrib.postgres.indexes.OpClass('memo', name='gin_trgm_ops'), name='account_memo_total_memo')],
                'constraints': [models.UniqueConstraint(fields=('member', 'type', 'memo', 'category_id'), name='account_memo_total_key')],
            },
        ),
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('notif_key', models.CharField(max_length=64)),
                ('kind', models.CharField(max_length=12)),
                ('is_partial', models.BooleanField(default=False)),
                ('card_company', models.CharField(max_length=100, null=True)),
                ('card_hint', models.CharField(max_length=100, null=True)),
                ('currency', models.CharField(max_length=3, null=True)),
                ('value', models.DecimalField(decimal_places=4, max_digits=18)),
                ('merchant', models.CharField(blank=True, default='', max_length=500)),
                ('running_total', models.BigIntegerField(null=True)),
                ('balance', models.BigIntegerField(null=True)),
                ('happened_at', models.DateTimeField()),
                ('is_timed', models.BooleanField()),
                ('is_cancelled', models.BooleanField(default=False)),
                ('entry_id', models.BigIntegerField(null=True)),
                ('member', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'db_table': 'account_notification',
                'ordering': ['-happened_at', '-id'],
                'indexes': [models.Index(fields=['member', 'value', '-happened_at'], name='account_notification_by_value')],
                'constraints': [models.UniqueConstraint(fields=('member', 'notif_key'), name='account_notification_key'), models.CheckConstraint(condition=models.Q(('kind__in', ('approval', 'cancellation'))), name='account_notification_kind_known'), models.CheckConstraint(condition=models.Q(('value__gt', 0)), name='account_notification_value_positive')],
            },
        ),
        migrations.RunSQL(OWNED, migrations.RunSQL.noop),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        *[
            migrations.RunSQL(
                BODY.format(event=event, changed=changed, tables=tables),
                f"DROP TRIGGER account_entry_words_{event} ON account_entry; "
                f"DROP FUNCTION account_entry_words_{event}();",
            )
            for event, (changed, tables) in EVENTS.items()
        ],
    ]
