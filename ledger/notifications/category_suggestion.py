"""Suggest a category for a merchant from the member's own entries (spec 4.8).

A memo matches if it contains the merchant or the merchant contains it. Most matches
win, then the newest entry.
"""

from accounts.models import Member
from core.db.like import escape_like
from core.db.rows import prepared_cursor

# A single character occurs in almost every text: it must be the whole memo.
MIN_SUBSTRING_LENGTH = 2
# Bounds the number of substrings.
MAX_SEARCHED_LENGTH = 60
# The rollup by memo has no whitespace.
WHITESPACE = " \t\n\u00a0\u3000"

_SUGGEST = """
    SELECT account_suggest_category(
        %s::bigint, %s::text, %s::text, %s::text[], %s::text
    )
"""


def suggest_category(member: Member, type_: str, merchant: str) -> str | None:
    keyword = merchant.lower().translate(dict.fromkeys(map(ord, WHITESPACE)))
    if not keyword:
        return None
    pattern = escape_like(keyword)
    if len(keyword) >= MIN_SUBSTRING_LENGTH:
        pattern = f"%{pattern}%"
    searched = keyword[:MAX_SEARCHED_LENGTH]
    substrings = {
        searched[start:end]
        for end in range(MIN_SUBSTRING_LENGTH, len(searched) + 1)
        for start in range(end - MIN_SUBSTRING_LENGTH + 1)
    }
    params = [member.pk, type_, pattern, list(substrings), WHITESPACE]
    with prepared_cursor() as cursor:
        cursor.execute(_SUGGEST, params)
        category: str | None = cursor.fetchone()[0]
    return category
