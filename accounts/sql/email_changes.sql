-- When a member's address was changed.
--
-- An address that is new does not link an identity (decision 0071): whoever has stolen a
-- session could write their own. The database notes the time, so that no way of writing
-- a member can forget it.

-- migrate:up
CREATE OR REPLACE FUNCTION member_email_changed_at()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A member who confirms what an administrator wrote makes it their own from now on.
    IF (NEW.email, NEW.is_email_by_administrator)
        IS DISTINCT FROM (OLD.email, OLD.is_email_by_administrator)
    THEN
        NEW.email_changed_at := now();
    ELSE
        -- Not even a whole row that is saved with the value that somebody read earlier
        -- takes it back.
        NEW.email_changed_at := OLD.email_changed_at;
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER member_email_changed_at
BEFORE UPDATE OF email ON member
FOR EACH ROW EXECUTE FUNCTION member_email_changed_at();

-- migrate:down
DROP TRIGGER member_email_changed_at ON member;
DROP FUNCTION member_email_changed_at();
