"""The category that a member's own entries suggest for a merchant.

See spec 4.8: containment in either direction among confirmed
entries of the same type, the most used one, the most recent on a tie. Asked of the
kept totals by memo, never of all entries.
"""

from typing import Any

from django.db import connection

from accounts.models import Member

MIN_SUBSTRING_LENGTH = 2
"""Letters that may be found inside another text: one letter is in everything and
teaches only where it is all there is."""
MAX_SEARCHED_LENGTH = 60
"""Letters of a merchant whose parts are looked up; what follows tells no more."""
WHITESPACE = " \t\n\u00a0\u3000"
"""What the totals by memo leave out."""

_SUGGESTION_SQL = """
    WITH matches AS MATERIALIZED (
        SELECT t.category_id, sum(t.entries) AS uses FROM account_memo_total t
        WHERE t.member_id = %(member)s AND t.type = %(type)s AND t.entries > 0
            AND (t.memo LIKE %(containing)s OR t.memo = ANY(%(parts)s))
        GROUP BY t.category_id
    ), most AS MATERIALIZED (
        SELECT category_id FROM matches
        WHERE uses = (SELECT max(uses) FROM matches)
    )
    SELECT c.name FROM most JOIN account_category c ON c.id = most.category_id
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
"""The newest of the matching entries is looked for only where categories tie."""


def suggest_category(member: Member, type_: str, merchant: str) -> str | None:
    """The category's name, or None where no memo matches."""
    keyword = merchant.lower().translate(dict.fromkeys(map(ord, WHITESPACE)))
    if not keyword:
        return None
    any_around = "%" if len(keyword) >= MIN_SUBSTRING_LENGTH else ""
    values: dict[str, Any] = {
        "member": member.pk,
        "type": type_,
        "containing": f"{any_around}{_escape_like(keyword)}{any_around}",
        "blanks": WHITESPACE,
        "parts": _substrings(keyword[:MAX_SEARCHED_LENGTH]),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SUGGESTION_SQL, values)
        row = cursor.fetchone()
    return row[0] if row else None


def _substrings(keyword: str) -> list[str]:
    """Every memo that the keyword could contain."""
    ends = range(MIN_SUBSTRING_LENGTH, len(keyword) + 1)
    return list({keyword[start:end] for end in ends for start in range(end - 1)})


def _escape_like(keyword: str) -> str:
    return keyword.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
