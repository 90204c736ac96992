-- When a member's address was changed.
--
-- An address other than that of the sign-up opens nothing until it is proved (decision
-- 0145): a stolen session could have written it. The database notes the change, so that
-- no way of writing a member can forget it.

-- migrate:up
CREATE OR REPLACE FUNCTION member_email_changed_at()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.email IS DISTINCT FROM OLD.email THEN
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
