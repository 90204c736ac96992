"""The board's counters against what there is to count."""

from typing import Any

from django.db import connection

DRIFT = """
    SELECT 'post', p.id FROM board_post p
    WHERE (p.up_count, p.down_count, p.comment_count) IS DISTINCT FROM (
        (SELECT count(*) FROM board_post_vote v WHERE v.post_id = p.id AND value = 1),
        (SELECT count(*) FROM board_post_vote v WHERE v.post_id = p.id AND value = -1),
        (SELECT count(*) FROM board_comment c WHERE c.post_id = p.id
         AND NOT c.is_hidden)
    )
    UNION ALL
    SELECT 'comment', c.id FROM board_comment c
    WHERE (c.up_count, c.down_count) IS DISTINCT FROM (
        (SELECT count(*) FROM board_comment_vote v
         WHERE v.comment_id = c.id AND value = 1),
        (SELECT count(*) FROM board_comment_vote v
         WHERE v.comment_id = c.id AND value = -1)
    )
    UNION ALL
    SELECT 'image', 0 FROM board_image i
    WHERE (i.unused_since IS NULL)
        <> EXISTS (SELECT FROM board_post_image s WHERE s.image_id = i.id)
"""


def find_counter_drift() -> list[Any]:
    """Return the rows whose counters differ from what there is to count."""
    with connection.cursor() as cursor:
        cursor.execute(DRIFT)
        return list(cursor.fetchall())
