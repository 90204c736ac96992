-- Count the comments of each post that can be seen.
--
-- Statement triggers, so that no way of writing comments can forget the counter. Posts
-- are locked in the order of ids before they are changed, so that two statements cannot
-- deadlock. Inserted and deleted comments go through one function, with sign 1 or -1.
--
-- Hash and merge joins are off: one cached plan serves a single comment as well as all
-- comments of a member, so joins have to look up by key.

-- migrate:up
CREATE OR REPLACE FUNCTION board_comments()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    sign constant int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM FROM board_post
    WHERE id IN (SELECT post_id FROM changed_rows WHERE NOT is_hidden)
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_post post
    SET comment_count = comment_count + sign * difference.comments
    FROM (
        SELECT post_id, count(*) AS comments
        FROM changed_rows
        WHERE NOT is_hidden
        GROUP BY post_id
    ) difference
    WHERE post.id = difference.post_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION board_comments_update()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    -- Only posts whose count changes: a vote updates a comment too, and must not wait
    -- for the post.
    PERFORM FROM board_post
    WHERE id IN (
        SELECT post_id
        FROM (
            SELECT 1 AS sign, post_id FROM new_rows WHERE NOT is_hidden
            UNION ALL
            SELECT -1, post_id FROM old_rows WHERE NOT is_hidden
        ) changed
        GROUP BY post_id
        HAVING sum(sign) <> 0
    )
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_post post
    SET comment_count = comment_count + difference.comments
    FROM (
        SELECT post_id, sum(sign) AS comments
        FROM (
            SELECT 1 AS sign, post_id FROM new_rows WHERE NOT is_hidden
            UNION ALL
            SELECT -1, post_id FROM old_rows WHERE NOT is_hidden
        ) changed
        GROUP BY post_id
        HAVING sum(sign) <> 0
    ) difference
    WHERE post.id = difference.post_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER board_comments_insert
AFTER INSERT ON board_comment
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_comments();

CREATE OR REPLACE TRIGGER board_comments_delete
AFTER DELETE ON board_comment
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_comments();

CREATE OR REPLACE TRIGGER board_comments_update
AFTER UPDATE ON board_comment
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_comments_update();

-- migrate:down
DROP TRIGGER board_comments_insert ON board_comment;
DROP TRIGGER board_comments_delete ON board_comment;
DROP TRIGGER board_comments_update ON board_comment;
DROP FUNCTION board_comments();
DROP FUNCTION board_comments_update();
