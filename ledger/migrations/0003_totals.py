"""Statement triggers that keep the totals beside the entries.

One statement changes each group of totals once, whatever number of rows it wrote,
and always in the same order of keys, so that two statements cannot lock the same
totals crosswise.
"""

from django.db import migrations

BODY = """
CREATE FUNCTION account_entry_totals_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_entry_total AS kept
        (member_id, month, type, pending, category_id, wallet_id, amount, entries)
    SELECT member_id, date - (extract(day FROM date)::int - 1), type, pending,
           category_id, wallet_id, sum(sign * amount), sum(sign)
    FROM ({changed}) changed
    GROUP BY 1, 2, 3, 4, 5, 6
    HAVING sum(sign * amount) <> 0 OR sum(sign) <> 0
    ORDER BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (member_id, month, type, pending, category_id, wallet_id)
    DO UPDATE SET amount = kept.amount + excluded.amount,
                  entries = kept.entries + excluded.entries;

    INSERT INTO account_month_total AS kept
        (member_id, month, type, pending, amount, entries)
    SELECT member_id, date - (extract(day FROM date)::int - 1), type, pending,
           sum(sign * amount), sum(sign)
    FROM ({changed}) changed
    GROUP BY 1, 2, 3, 4
    HAVING sum(sign * amount) <> 0 OR sum(sign) <> 0
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (member_id, month, type, pending)
    DO UPDATE SET amount = kept.amount + excluded.amount,
                  entries = kept.entries + excluded.entries;

    INSERT INTO account_wallet_total AS kept (wallet_id, member_id, balance, entries)
    SELECT wallet_id, member_id,
           coalesce(sum(CASE type WHEN 'income' THEN sign * amount
                                  ELSE -sign * amount END)
                    FILTER (WHERE NOT pending), 0) AS balance,
           sum(sign) AS entries
    FROM ({changed}) changed
    WHERE wallet_id IS NOT NULL
    GROUP BY wallet_id, member_id
    HAVING sum(sign) <> 0 OR coalesce(
        sum(CASE type WHEN 'income' THEN sign * amount ELSE -sign * amount END)
        FILTER (WHERE NOT pending), 0) <> 0
    ORDER BY wallet_id
    ON CONFLICT (wallet_id)
    DO UPDATE SET balance = kept.balance + excluded.balance,
                  entries = kept.entries + excluded.entries;
    RETURN NULL;
END
$$;

CREATE TRIGGER account_entry_totals_{event}
AFTER {event} ON account_entry
REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_totals_{event}();
"""
COLUMNS = "member_id, date, type, pending, category_id, wallet_id, amount"
ADDED = f"SELECT 1 AS sign, {COLUMNS} FROM added"
REMOVED = f"SELECT -1 AS sign, {COLUMNS} FROM removed"
EVENTS = {
    "insert": (ADDED, "NEW TABLE AS added"),
    "update": (
        f"{ADDED} UNION ALL {REMOVED}",
        "NEW TABLE AS added OLD TABLE AS removed",
    ),
    "delete": (REMOVED, "OLD TABLE AS removed"),
}


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_ownership")]
    operations = [
        migrations.RunSQL(
            BODY.format(event=event, changed=changed, tables=tables),
            f"DROP TRIGGER account_entry_totals_{event} ON account_entry; "
            f"DROP FUNCTION account_entry_totals_{event}();",
        )
        for event, (changed, tables) in EVENTS.items()
    ]
