-- Count the posts of each category that can be seen, notices included.
--
-- Statement triggers, so that no way of writing posts can forget the counts. They write
-- the categories in order, so that two statements cannot deadlock. Inserted and deleted
-- posts go through one function, with sign 1 or -1.

-- migrate:up
CREATE OR REPLACE FUNCTION board_posts()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign constant int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    INSERT INTO board_post_count AS stored (category, posts)
    SELECT category, sign * count(*)
    FROM changed_rows
    WHERE NOT is_hidden
    GROUP BY category
    ORDER BY category
    ON CONFLICT (category)
    DO UPDATE SET posts = stored.posts + excluded.posts;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION board_posts_update()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO board_post_count AS stored (category, posts)
    SELECT category, sum(sign)
    FROM (
        SELECT 1 AS sign, category FROM new_rows WHERE NOT is_hidden
        UNION ALL
        SELECT -1, category FROM old_rows WHERE NOT is_hidden
    ) changed
    GROUP BY category
    HAVING sum(sign) <> 0
    ORDER BY category
    ON CONFLICT (category)
    DO UPDATE SET posts = stored.posts + excluded.posts;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER board_posts_insert
AFTER INSERT ON board_post
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_posts();

CREATE OR REPLACE TRIGGER board_posts_delete
AFTER DELETE ON board_post
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_posts();

CREATE OR REPLACE TRIGGER board_posts_update
AFTER UPDATE ON board_post
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION board_posts_update();

-- migrate:down
DROP TRIGGER board_posts_insert ON board_post;
DROP TRIGGER board_posts_delete ON board_post;
DROP TRIGGER board_posts_update ON board_post;
DROP FUNCTION board_posts();
DROP FUNCTION board_posts_update();
