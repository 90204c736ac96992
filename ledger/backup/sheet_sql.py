"""SQL of the sheets of a backup; `r` is the row."""

from ledger.backup.cell_parsers import TAG_SEPARATOR
from ledger.entries.transfer_candidates import DISMISSED_PAIRS

JOIN_CATEGORY = (
    "LEFT JOIN account_category c ON c.member_id = r.member_id AND c.id = r.category_id"
)
JOIN_CATEGORY_AND_WALLET = (
    f"{JOIN_CATEGORY}"
    " LEFT JOIN account w ON w.member_id = r.member_id AND w.id = r.wallet_id"
)

JOIN_PARTS = (
    f"{JOIN_CATEGORY_AND_WALLET}"
    " LEFT JOIN account tw ON tw.member_id = r.member_id AND tw.id = r.to_wallet_id"
)
# Keys for lines, refunds, merged entries and dismissed transfers, numbered in their
# order: equal ledgers have equal keys.
KEYED_ENTRIES = f"""(
    SELECT id, row_number() OVER (ORDER BY date, id) AS number FROM account_entry
    WHERE member_id = %(member)s AND (line_count > 0 OR id IN (
        SELECT refund_of_id FROM account_entry
        WHERE member_id = %(member)s AND refund_of_id IS NOT NULL
        UNION ALL
        SELECT refund_of_id FROM account_entry_line
        WHERE member_id = %(member)s AND refund_of_id IS NOT NULL
        UNION ALL
        SELECT entry_id FROM account_merged_entry WHERE member_id = %(member)s
        UNION ALL
        SELECT unnest(ARRAY[d.expense_id, d.income_id]) FROM {DISMISSED_PAIRS} d
    ))
)"""  # noqa: S608 - constants
# Keys of the incomes that are no transfer with the expense `r`.
JOIN_NOT_WITH = f"""
    LEFT JOIN (
        SELECT d.expense_id,
            string_agg(i.number::text, '{TAG_SEPARATOR}' ORDER BY i.number) AS keys
        FROM {DISMISSED_PAIRS} d JOIN {KEYED_ENTRIES} i ON i.id = d.income_id
        GROUP BY d.expense_id
    ) n ON n.expense_id = r.id
"""  # noqa: S608 - constants
KEYED_RULES = """(
    SELECT id, row_number() OVER (ORDER BY id) AS number FROM account_recurring
    WHERE member_id = %(member)s AND id IN (
        SELECT rule_id FROM account_recurring_line WHERE member_id = %(member)s
    )
)"""
KEYED_QUICK_ENTRIES = """(
    SELECT id, row_number() OVER (ORDER BY sort_order, id) AS number
    FROM account_quick_entry
    WHERE member_id = %(member)s AND id IN (
        SELECT quick_entry_id FROM account_quick_entry_line
        WHERE member_id = %(member)s
    )
)"""
JOIN_KEY = "{joins} LEFT JOIN {keyed} k ON k.id = r.id"
LINE_COLUMNS = "position, amount, category_id, category_type, wallet_id, memo"
NO_REFUND = "NULL::bigint AS refund_of_id"
# Lines of entries and templates, under the keys of their owners.
ALL_LINES = f"""(
    SELECT l.member_id, 1 AS part, k.number, k.number::text AS entry, {LINE_COLUMNS},
        refund_of_id
    FROM account_entry_line l JOIN {KEYED_ENTRIES} k ON k.id = l.entry_id
    WHERE l.member_id = %(member)s
    UNION ALL
    SELECT l.member_id, 2, k.number, 'recurring-' || k.number, {LINE_COLUMNS},
        {NO_REFUND}
    FROM account_recurring_line l JOIN {KEYED_RULES} k ON k.id = l.rule_id
    WHERE l.member_id = %(member)s
    UNION ALL
    SELECT l.member_id, 3, k.number, 'quick-' || k.number, {LINE_COLUMNS},
        {NO_REFUND}
    FROM account_quick_entry_line l
    JOIN {KEYED_QUICK_ENTRIES} k ON k.id = l.quick_entry_id
    WHERE l.member_id = %(member)s
)"""  # noqa: S608 - constants


def select_moment(column: str) -> str:
    text = """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"""
    return f"to_char({column} AT TIME ZONE 'UTC', {text})"


# Transfers and split entries on days with a typed value.
CREATED_AT = f"""
    CASE WHEN (r.to_wallet_id IS NOT NULL OR r.line_count > 0) AND r.date IN (
        SELECT date FROM account_valuation WHERE member_id = %(member)s
    ) THEN {select_moment("r.created_at")} END
"""  # noqa: S608 - constants


# As `parse_terms` reads them.
CARD_TERMS = """(
    SELECT string_agg(concat_ws(' ', t ->> 'from', t ->> 'closingDay',
        t ->> 'paymentDay', t ->> 'paymentMonth', t ->> 'shift'), '; '
        ORDER BY t ->> 'from')
    FROM jsonb_array_elements(r.terms) t
)"""
# Names may have commas.
EXCLUDED_CATEGORIES = """(
    SELECT string_agg(c.name, chr(10) ORDER BY c.sort_order, c.id)
    FROM account_category c
    WHERE c.member_id = %(member)s AND c.id = ANY(r.excluded_category_ids)
)"""
EXCLUDED_TAGS = f"""(
    SELECT string_agg(g.name, '{TAG_SEPARATOR}' ORDER BY g.sort_order, g.id)
    FROM account_tag g
    WHERE g.member_id = %(member)s AND g.id = ANY(r.excluded_tag_ids)
)"""  # noqa: S608 - constants


def select_tag_names(table: str, owner: str) -> str:
    return (
        "(SELECT string_agg((SELECT name FROM account_tag"  # noqa: S608  # constants
        " WHERE member_id = %(member)s AND id = l.tag_id),"
        f" '{TAG_SEPARATOR}' ORDER BY l.position) FROM {table} l"
        f" WHERE l.member_id = %(member)s AND l.{owner} = r.id)"
    )


# Names of the tags in `tag_ids`; deleted tags are skipped.
TAG_NAMES_BY_IDS = f"""
    (SELECT string_agg(t.name, '{TAG_SEPARATOR}' ORDER BY given.position)
    FROM unnest(r.tag_ids) WITH ORDINALITY AS given (tag_id, position)
    JOIN account_tag t ON t.member_id = %(member)s AND t.id = given.tag_id)
"""  # noqa: S608 - constants
