"""Suggest a category for a merchant from the member's own entries (spec 4.8).

A memo matches if it contains the merchant or the merchant contains it. The category
with most matching entries wins, and on a tie that of the most recent one.
"""

from typing import Any

from accounts.models import Member
from core.db.like import escape_like
from core.db.rows import prepared_cursor

# A single character occurs in almost every text, so it must be the whole memo.
MIN_SUBSTRING_LENGTH = 2
# Characters of a merchant in which memos are searched; bounds their combinations.
MAX_SEARCHED_LENGTH = 60
# Characters that the rollup by memo leaves out.
WHITESPACE = " \t\n\u00a0\u3000"

# The rollup by memo has far fewer rows than entries. The entries themselves are read
# only on a tie: the lateral join has a false condition otherwise.
_SUGGESTION_SQL = """
    WITH matches AS MATERIALIZED (
        SELECT t.category_id, sum(t.entry_count) AS uses FROM account_memo_total t
        WHERE t.member_id = %(member)s AND t.type = %(type)s AND t.entry_count > 0
            AND (t.memo LIKE %(containing)s OR t.memo = ANY(%(parts)s))
        GROUP BY t.category_id
    ), most AS MATERIALIZED (
        SELECT category_id FROM matches
        WHERE uses = (SELECT max(uses) FROM matches)
    )
    SELECT c.name FROM most JOIN account_category c
        ON c.member_id = %(member)s AND c.id = most.category_id
    LEFT JOIN LATERAL (
        SELECT e.date, e.id FROM account_entry e
        WHERE e.member_id = %(member)s AND e.category_id = c.id AND NOT e.pending
            AND (translate(lower(e.memo), %(blanks)s, '') LIKE %(containing)s
                OR translate(lower(e.memo), %(blanks)s, '') = ANY(%(parts)s))
        ORDER BY e.date DESC, e.id DESC LIMIT 1
    ) newest ON (SELECT count(*) FROM most) > 1
    ORDER BY newest.date DESC NULLS LAST, newest.id DESC
    LIMIT 1
"""


def suggest_category(member: Member, type_: str, merchant: str) -> str | None:
    """Return the name of the suggested category, or None if no memo matches."""
    keyword = merchant.lower().translate(dict.fromkeys(map(ord, WHITESPACE)))
    if not keyword:
        return None
    pattern = escape_like(keyword)
    if len(keyword) >= MIN_SUBSTRING_LENGTH:
        pattern = f"%{pattern}%"
    # All memos that the merchant may contain.
    searched = keyword[:MAX_SEARCHED_LENGTH]
    substrings = {
        searched[start:end]
        for end in range(MIN_SUBSTRING_LENGTH, len(searched) + 1)
        for start in range(end - MIN_SUBSTRING_LENGTH + 1)
    }
    params: dict[str, Any] = {
        "member": member.pk,
        "type": type_,
        "containing": pattern,
        "blanks": WHITESPACE,
        "parts": list(substrings),
    }
    with prepared_cursor() as cursor:
        cursor.execute(_SUGGESTION_SQL, params)
        row = cursor.fetchone()
    return row[0] if row else None
