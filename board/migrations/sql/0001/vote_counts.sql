-- Count the votes of each post and comment.
--
-- Statement triggers, so that no way of writing votes can forget the counters. Rows are
-- locked in the order of ids before they are changed, so that two statements cannot
-- deadlock. Code that writes several tables in one transaction locks posts first, then
-- comments, as `board.locking` does.
--
-- Inserted and deleted votes go through one function, with sign 1 or -1; an update has
-- old rows and new ones and needs a text of its own.
--
-- Hash and merge joins are off: one cached plan serves a single vote as well as all
-- votes of a member, so joins have to look up by key.

-- migrate:up
CREATE OR REPLACE FUNCTION board_post_votes()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    sign constant int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM FROM board_post
    WHERE id IN (SELECT post_id FROM changed_rows)
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_post voted
    SET up_count = up_count + sign * difference.up,
        down_count = down_count + sign * difference.down
    FROM (
        SELECT post_id,
               count(*) FILTER (WHERE value = 1) AS up,
               count(*) FILTER (WHERE value = -1) AS down
        FROM changed_rows
        GROUP BY post_id
    ) difference
    WHERE voted.id = difference.post_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION board_post_votes_update()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM board_post
    WHERE id IN (
        SELECT post_id FROM new_rows UNION ALL SELECT post_id FROM old_rows
    )
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_post voted
    SET up_count = up_count + difference.up,
        down_count = down_count + difference.down
    FROM (
        SELECT post_id,
               coalesce(sum(sign) FILTER (WHERE value = 1), 0) AS up,
               coalesce(sum(sign) FILTER (WHERE value = -1), 0) AS down
        FROM (
            SELECT 1 AS sign, post_id, value FROM new_rows
            UNION ALL
            SELECT -1, post_id, value FROM old_rows
        ) changed
        GROUP BY post_id
    ) difference
    WHERE voted.id = difference.post_id
      AND (difference.up <> 0 OR difference.down <> 0);
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION board_comment_votes()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    sign constant int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM FROM board_comment
    WHERE id IN (SELECT comment_id FROM changed_rows)
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_comment voted
    SET up_count = up_count + sign * difference.up,
        down_count = down_count + sign * difference.down
    FROM (
        SELECT comment_id,
               count(*) FILTER (WHERE value = 1) AS up,
               count(*) FILTER (WHERE value = -1) AS down
        FROM changed_rows
        GROUP BY comment_id
    ) difference
    WHERE voted.id = difference.comment_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION board_comment_votes_update()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM board_comment
    WHERE id IN (
        SELECT comment_id FROM new_rows UNION ALL SELECT comment_id FROM old_rows
    )
    ORDER BY id
    FOR NO KEY UPDATE;

    UPDATE board_comment voted
    SET up_count = up_count + difference.up,
        down_count = down_count + difference.down
    FROM (
        SELECT comment_id,
               coalesce(sum(sign) FILTER (WHERE value = 1), 0) AS up,
               coalesce(sum(sign) FILTER (WHERE value = -1), 0) AS down
        FROM (
            SELECT 1 AS sign, comment_id, value FROM new_rows
            UNION ALL
            SELECT -1, comment_id, value FROM old_rows
        ) changed
        GROUP BY comment_id
    ) difference
    WHERE voted.id = difference.comment_id
      AND (difference.up <> 0 OR difference.down <> 0);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER board_post_votes_insert
AFTER INSERT ON board_post_vote
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_post_votes();

CREATE OR REPLACE TRIGGER board_post_votes_delete
AFTER DELETE ON board_post_vote
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_post_votes();

CREATE OR REPLACE TRIGGER board_post_votes_update
AFTER UPDATE ON board_post_vote
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_post_votes_update();

CREATE OR REPLACE TRIGGER board_comment_votes_insert
AFTER INSERT ON board_comment_vote
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_comment_votes();

CREATE OR REPLACE TRIGGER board_comment_votes_delete
AFTER DELETE ON board_comment_vote
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_comment_votes();

CREATE OR REPLACE TRIGGER board_comment_votes_update
AFTER UPDATE ON board_comment_vote
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_comment_votes_update();

-- A vote changes no indexed column. Room in the pages lets such an update stay within
-- its page and touch no index.
ALTER TABLE board_post SET (fillfactor = 85);
ALTER TABLE board_comment SET (fillfactor = 85);

-- migrate:down
ALTER TABLE board_post RESET (fillfactor);
ALTER TABLE board_comment RESET (fillfactor);
DROP TRIGGER board_post_votes_insert ON board_post_vote;
DROP TRIGGER board_post_votes_delete ON board_post_vote;
DROP TRIGGER board_post_votes_update ON board_post_vote;
DROP FUNCTION board_post_votes();
DROP FUNCTION board_post_votes_update();
DROP TRIGGER board_comment_votes_insert ON board_comment_vote;
DROP TRIGGER board_comment_votes_delete ON board_comment_vote;
DROP TRIGGER board_comment_votes_update ON board_comment_vote;
DROP FUNCTION board_comment_votes();
DROP FUNCTION board_comment_votes_update();
