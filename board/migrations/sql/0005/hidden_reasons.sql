-- Why a post or comment is hidden, where the writer names no reason.
--
-- `is_hidden` and `hidden_reason` say the same. A writer of the release before, which is
-- running while a database is upgraded, sets the flag alone.

-- migrate:up
CREATE OR REPLACE FUNCTION board_hidden_reason()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.hidden_reason := CASE WHEN NEW.is_hidden THEN 'STAFF' END;
    IF NOT NEW.is_hidden THEN
        NEW.remove_after := NULL;
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER board_post_hidden_reason
BEFORE INSERT OR UPDATE OF is_hidden ON board_post
FOR EACH ROW WHEN (NEW.is_hidden <> (NEW.hidden_reason IS NOT NULL))
EXECUTE FUNCTION board_hidden_reason();

CREATE OR REPLACE TRIGGER board_comment_hidden_reason
BEFORE INSERT OR UPDATE OF is_hidden ON board_comment
FOR EACH ROW WHEN (NEW.is_hidden <> (NEW.hidden_reason IS NOT NULL))
EXECUTE FUNCTION board_hidden_reason();

-- migrate:down
DROP TRIGGER board_post_hidden_reason ON board_post;
DROP TRIGGER board_comment_hidden_reason ON board_comment;
DROP FUNCTION board_hidden_reason();
