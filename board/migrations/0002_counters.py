"""Statement triggers that keep the counters of posts and comments, and stored counts.

Each locks what it changes in the order of ids before it changes anything, so that
two statements cannot wait crosswise. Whoever writes several tables in one transaction
locks posts, then comments, as `board.locking` does.

Votes change no indexed column: room in the pages lets their updates stay within one.
"""

from django.db import migrations

COUNT_VOTES = """
CREATE FUNCTION board_{target}_votes_{event}() RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM board_{target}
    WHERE id IN (SELECT {target}_id FROM ({changed}) changed)
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_{target} voted
    SET up_count = up_count + difference.up, down_count = down_count + difference.down
    FROM (
        SELECT {target}_id,
               coalesce(sum(sign) FILTER (WHERE value = 1), 0) AS up,
               coalesce(sum(sign) FILTER (WHERE value = -1), 0) AS down
        FROM ({changed}) changed
        GROUP BY 1
    ) difference
    WHERE voted.id = difference.{target}_id
      AND (difference.up <> 0 OR difference.down <> 0);
    RETURN NULL;
END
$$;

CREATE TRIGGER board_{target}_votes_{event} AFTER {event} ON board_{target}_vote
REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION board_{target}_votes_{event}();
"""
"""Joins look up by key: one plan serves a single vote as well as a member's all."""

COUNT_COMMENTS = """
CREATE FUNCTION board_comments_{event}() RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM board_post
    WHERE id IN (
        SELECT post_id FROM ({changed}) changed
        WHERE NOT is_hidden GROUP BY 1 HAVING sum(sign) <> 0
    )
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_post post
    SET comment_count = comment_count + difference.comments
    FROM (
        SELECT post_id, sum(sign) AS comments FROM ({changed}) changed
        WHERE NOT is_hidden GROUP BY 1 HAVING sum(sign) <> 0
    ) difference
    WHERE post.id = difference.post_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER board_comments_{event} AFTER {event} ON board_comment
REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION board_comments_{event}();
"""

COUNT_POSTS = """
CREATE FUNCTION board_posts_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO board_post_count AS kept (category, posts)
    SELECT category, sum(sign) FROM ({changed}) changed
    WHERE NOT is_hidden
    GROUP BY 1
    HAVING sum(sign) <> 0
    ORDER BY 1
    ON CONFLICT (category) DO UPDATE SET posts = kept.posts + excluded.posts;
    RETURN NULL;
END
$$;

CREATE TRIGGER board_posts_{event} AFTER {event} ON board_post
REFERENCING {tables}
FOR EACH STATEMENT EXECUTE FUNCTION board_posts_{event}();
"""

TABLES = {
    "insert": "NEW TABLE AS added",
    "update": "OLD TABLE AS removed NEW TABLE AS added",
    "delete": "OLD TABLE AS removed",
}
DROP = "DROP TRIGGER {name} ON {table}; DROP FUNCTION {name}();"
NAMES = {
    COUNT_VOTES: ("board_{target}_votes_{event}", "board_{target}_vote"),
    COUNT_COMMENTS: ("board_comments_{event}", "board_comment"),
    COUNT_POSTS: ("board_posts_{event}", "board_post"),
}


def keep(template, columns, target=""):
    """A trigger for each event, made from one template."""
    added = f"SELECT 1 AS sign, {columns} FROM added"
    removed = f"SELECT -1 AS sign, {columns} FROM removed"
    changed = {
        "insert": added,
        "update": f"{added} UNION ALL {removed}",
        "delete": removed,
    }
    name, table = NAMES[template]
    create, drop = "", ""
    for event, tables in TABLES.items():
        names = {"event": event, "target": target}
        create += template.format(changed=changed[event], tables=tables, **names)
        drop += DROP.format(name=name.format(**names), table=table.format(**names))
    return migrations.RunSQL(create, drop)


class Migration(migrations.Migration):
    dependencies = [("board", "0001_tables")]
    operations = [
        keep(COUNT_VOTES, "post_id, value", "post"),
        keep(COUNT_VOTES, "comment_id, value", "comment"),
        keep(COUNT_COMMENTS, "post_id, is_hidden"),
        keep(COUNT_POSTS, "category, is_hidden"),
        migrations.RunSQL(
            "ALTER TABLE board_post SET (fillfactor = 85);"
            "ALTER TABLE board_comment SET (fillfactor = 85);",
            "ALTER TABLE board_post RESET (fillfactor);"
            "ALTER TABLE board_comment RESET (fillfactor);",
        ),
    ]
