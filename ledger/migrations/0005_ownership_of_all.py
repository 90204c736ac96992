"""Foreign keys over (member, …) for the tables of the whole ledger."""

from django.db import migrations

CATEGORY = "account_category (member_id, type, id)"
WALLET = "account (member_id, id)"
TAG = "account_tag (member_id, id) ON DELETE CASCADE"
RULE = "account_recurring (member_id, id) ON DELETE CASCADE"
REFERENCES = (
    (
        "account_budget",
        "account_budget_category_owned",
        "(member_id, type, category_id)",
        CATEGORY,
    ),
    (
        "account_recurring",
        "account_recurring_category_owned",
        "(member_id, type, category_id)",
        CATEGORY,
    ),
    (
        "account_recurring",
        "account_recurring_wallet_owned",
        "(member_id, wallet_id)",
        WALLET,
    ),
    (
        "account_recurring_tag",
        "account_recurring_tag_rule_owned",
        "(member_id, rule_id)",
        RULE,
    ),
    (
        "account_recurring_tag",
        "account_recurring_tag_tag_owned",
        "(member_id, tag_id)",
        TAG,
    ),
    (
        "account_recurring_occurrence",
        "account_recurring_occurrence_rule_owned",
        "(member_id, rule_id)",
        RULE,
    ),
    (
        "account_recurring_occurrence",
        "account_recurring_occurrence_entry_owned",
        "(member_id, entry_id)",
        "account_entry (member_id, id) ON DELETE SET NULL (entry_id)",
    ),
    (
        "invest_trade",
        "invest_trade_stock_owned",
        "(member_id, stock_id)",
        "invest_stock (member_id, id) ON DELETE CASCADE",
    ),
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_the_whole_ledger")]
    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} "
            f"FOREIGN KEY {columns} REFERENCES {target}",
            f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )
        for table, name, columns, target in REFERENCES
    ]
