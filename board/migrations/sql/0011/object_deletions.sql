-- Remember the objects of images that are deleted or moved, so that they are deleted after
-- the commit, whatever statement deleted the image.
--
-- Row triggers: their conditions leave out images whose bytes lie in the database, and
-- changes of other columns.

-- migrate:up
CREATE OR REPLACE FUNCTION board_object_deletions()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO board_object_deletion (key, delete_after, next_attempt_at)
    VALUES (OLD.object_key, now(), now())
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER board_object_deletions_delete
AFTER DELETE ON board_image
FOR EACH ROW WHEN (OLD.object_key IS NOT NULL)
EXECUTE FUNCTION board_object_deletions();

CREATE OR REPLACE TRIGGER board_object_deletions_update
AFTER UPDATE OF object_key ON board_image
FOR EACH ROW WHEN (
    OLD.object_key IS NOT NULL AND OLD.object_key IS DISTINCT FROM NEW.object_key
)
EXECUTE FUNCTION board_object_deletions();

-- migrate:down
DROP TRIGGER board_object_deletions_delete ON board_image;
DROP TRIGGER board_object_deletions_update ON board_image;
DROP FUNCTION board_object_deletions();
