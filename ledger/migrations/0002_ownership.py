"""Foreign keys over (member, …): no row refers to another member's row.

Those to categories include the type, so that an expense never has an income
category; the one between categories includes the level, so that a minor category
only ever sits under a major one of its type.
"""

from django.db import migrations

REFERENCES = (
    (
        "account_category",
        "account_category_parent_is_major",
        "(member_id, type, parent_id, parent_level)",
        "account_category (member_id, type, id, level)",
    ),
    (
        "account_entry",
        "account_entry_category_owned",
        "(member_id, type, category_id)",
        "account_category (member_id, type, id)",
    ),
    (
        "account_entry",
        "account_entry_wallet_owned",
        "(member_id, wallet_id)",
        "account (member_id, id)",
    ),
    (
        "account_quick_entry",
        "account_quick_entry_category_owned",
        "(member_id, type, category_id)",
        "account_category (member_id, type, id)",
    ),
    (
        "account_quick_entry",
        "account_quick_entry_wallet_owned",
        "(member_id, wallet_id)",
        "account (member_id, id)",
    ),
    (
        "account_entry_tag",
        "account_entry_tag_entry_owned",
        "(member_id, entry_id)",
        "account_entry (member_id, id) ON DELETE CASCADE",
    ),
    (
        "account_entry_tag",
        "account_entry_tag_tag_owned",
        "(member_id, tag_id)",
        "account_tag (member_id, id) ON DELETE CASCADE",
    ),
    (
        "account_quick_entry_tag",
        "account_quick_entry_tag_quick_entry_owned",
        "(member_id, quick_entry_id)",
        "account_quick_entry (member_id, id) ON DELETE CASCADE",
    ),
    (
        "account_quick_entry_tag",
        "account_quick_entry_tag_tag_owned",
        "(member_id, tag_id)",
        "account_tag (member_id, id) ON DELETE CASCADE",
    ),
    (
        "account_entry_total",
        "account_entry_total_category_owned",
        "(member_id, type, category_id)",
        "account_category (member_id, type, id) ON DELETE CASCADE",
    ),
    (
        "account_entry_total",
        "account_entry_total_wallet_owned",
        "(member_id, wallet_id)",
        "account (member_id, id) ON DELETE CASCADE",
    ),
    (
        "account_wallet_total",
        "account_wallet_total_wallet_owned",
        "(member_id, wallet_id)",
        "account (member_id, id) ON DELETE CASCADE",
    ),
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]
    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} "
            f"FOREIGN KEY {columns} REFERENCES {target}",
            f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )
        for table, name, columns, target in REFERENCES
    ]
