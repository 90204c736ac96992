"""SQL of the sheets of a backup: joins, the keys of rows, texts. `r` is the row."""

from ledger.backup.cell_parsers import TAG_SEPARATOR

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
# Keys of the rows to which lines, refunds and merged entries refer. They are numbered
# in their order, so that equal ledgers have equal keys.
KEYED_ENTRIES = """(
    SELECT id, row_number() OVER (ORDER BY date, id) AS number FROM account_entry
    WHERE member_id = %(member)s AND (line_count > 0 OR id IN (
        SELECT refund_of_id FROM account_entry
        WHERE member_id = %(member)s AND refund_of_id IS NOT NULL
        UNION ALL
        SELECT entry_id FROM account_merged_entry WHERE member_id = %(member)s
    ))
)"""
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
# The lines of entries and templates, under the keys of what they belong to.
ALL_LINES = f"""(
    SELECT l.member_id, 1 AS part, k.number, k.number::text AS entry, {LINE_COLUMNS}
    FROM account_entry_line l JOIN {KEYED_ENTRIES} k ON k.id = l.entry_id
    WHERE l.member_id = %(member)s
    UNION ALL
    SELECT l.member_id, 2, k.number, 'recurring-' || k.number, {LINE_COLUMNS}
    FROM account_recurring_line l JOIN {KEYED_RULES} k ON k.id = l.rule_id
    WHERE l.member_id = %(member)s
    UNION ALL
    SELECT l.member_id, 3, k.number, 'quick-' || k.number, {LINE_COLUMNS}
    FROM account_quick_entry_line l
    JOIN {KEYED_QUICK_ENTRIES} k ON k.id = l.quick_entry_id
    WHERE l.member_id = %(member)s
)"""  # noqa: S608 - of constants only


def select_moment(column: str) -> str:
    text = """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"""
    return f"to_char({column} AT TIME ZONE 'UTC', {text})"


# Of transfers and split entries on days on which a value was typed.
CREATED_AT = f"""
    CASE WHEN (r.to_wallet_id IS NOT NULL OR r.line_count > 0) AND r.date IN (
        SELECT date FROM account_valuation WHERE member_id = %(member)s
    ) THEN {select_moment("r.created_at")} END
"""  # noqa: S608 - of constants only


def select_tag_names(table: str, owner: str) -> str:
    return (
        f"(SELECT string_agg(t.name, '{TAG_SEPARATOR}' ORDER BY l.position)"  # noqa: S608  # constants
        f" FROM {table} l JOIN account_tag t"
        " ON t.member_id = l.member_id AND t.id = l.tag_id"
        f" WHERE l.member_id = %(member)s AND l.{owner} = r.id)"
    )


# Of the tags whose ids stand in the row, without those that are gone.
TAG_NAMES_BY_IDS = f"""
    (SELECT string_agg(t.name, '{TAG_SEPARATOR}' ORDER BY given.position)
    FROM unnest(r.tag_ids) WITH ORDINALITY AS given (tag_id, position)
    JOIN account_tag t ON t.member_id = %(member)s AND t.id = given.tag_id)
"""  # noqa: S608 - of constants only
