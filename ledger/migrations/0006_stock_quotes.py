"""Quotes of stocks, and positions that triggers keep beside the trades."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

OWNED = """
ALTER TABLE invest_position ADD CONSTRAINT invest_position_stock_owned
FOREIGN KEY (member_id, stock_id) REFERENCES invest_stock (member_id, id)
ON DELETE CASCADE
"""
FILL = """
INSERT INTO invest_position (stock_id, member_id, quantity, trades, version)
SELECT stock_id, member_id,
       sum(CASE side WHEN 'BUY' THEN quantity ELSE -quantity END), count(*), 1
FROM invest_trade GROUP BY stock_id, member_id
"""
BODY = """
CREATE FUNCTION invest_trade_positions_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A stock that goes together with its trades has no position any more.
    INSERT INTO invest_position AS kept
        (stock_id, member_id, quantity, trades, version)
    SELECT changed.stock_id, changed.member_id,
           sum(CASE side WHEN 'BUY' THEN sign * quantity ELSE -sign * quantity END),
           sum(sign), 1
    FROM ({changed}) changed
    JOIN invest_stock stock ON stock.id = changed.stock_id
    GROUP BY 1, 2
    ORDER BY 1
    ON CONFLICT (stock_id)
    DO UPDATE SET quantity = kept.quantity + excluded.quantity,
                  trades = kept.trades + excluded.trades,
                  version = kept.version + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER invest_trade_positions_{event}
AFTER {event} ON invest_trade
REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION invest_trade_positions_{event}();
"""
ADDED = "SELECT 1 AS sign, stock_id, member_id, side, quantity FROM added"
REMOVED = "SELECT -1 AS sign, stock_id, member_id, side, quantity FROM removed"
EVENTS = {
    "insert": (ADDED, "NEW TABLE AS added"),
    "update": (
        f"{ADDED} UNION ALL {REMOVED}",
        "NEW TABLE AS added OLD TABLE AS removed",
    ),
    "delete": (REMOVED, "OLD TABLE AS removed"),
}


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("ledger", "0005_ownership_of_all"),
    ]
    operations = [
        migrations.CreateModel(
            name="StockQuote",
            fields=[
                (
                    "code",
                    models.CharField(max_length=20, primary_key=True, serialize=False),
                ),
                (
                    "price",
                    models.DecimalField(decimal_places=6, max_digits=20, null=True),
                ),
                ("currency", models.CharField(max_length=3, null=True)),
                ("home_price", models.BigIntegerField(null=True)),
                ("at", models.DateTimeField(null=True)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField()),
                ("claimed", models.BooleanField(default=False)),
            ],
            options={
                "db_table": "stock_quote",
                "ordering": ["code"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("home_price", None),
                            ("home_price__gte", 0),
                            _connector="OR",
                        ),
                        name="stock_quote_price_not_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Position",
            fields=[
                (
                    "stock",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="position",
                        serialize=False,
                        to="ledger.stock",
                    ),
                ),
                ("quantity", models.DecimalField(decimal_places=6, max_digits=30)),
                ("trades", models.IntegerField()),
                ("version", models.BigIntegerField()),
                (
                    "cost",
                    models.DecimalField(decimal_places=0, max_digits=80, null=True),
                ),
                (
                    "realized",
                    models.DecimalField(decimal_places=0, max_digits=80, null=True),
                ),
                ("replayed_version", models.BigIntegerField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "invest_position",
                "ordering": ["stock_id"],
                "indexes": [
                    models.Index(fields=["member"], name="invest_position_member")
                ],
            },
        ),
        migrations.AlterField(
            model_name="trade",
            name="stock",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="ledger.stock",
            ),
        ),
        migrations.RunSQL(
            OWNED,
            "ALTER TABLE invest_position DROP CONSTRAINT invest_position_stock_owned",
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        *(
            migrations.RunSQL(
                BODY.format(event=event, changed=changed, tables=tables),
                f"DROP TRIGGER invest_trade_positions_{event} ON invest_trade; "
                f"DROP FUNCTION invest_trade_positions_{event}();",
            )
            for event, (changed, tables) in EVENTS.items()
        ),
    ]
