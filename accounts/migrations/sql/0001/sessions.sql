-- Carry a member's new plan, name, language, role or status into all of the member's sessions.
--
-- The database does it in the transaction that changes the member, so that no way of
-- writing a member can forget it. The higher version makes older copies of the session
-- in the cache lose against the new row.

-- migrate:up
CREATE OR REPLACE FUNCTION update_member_sessions()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE auth_session
    SET plan = NEW.plan, display_name = NEW.display_name, version = version + 1
    WHERE member_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER update_member_sessions
AFTER UPDATE OF
    login_id, display_name, locale, role, status, plan, plan_expires_at,
    plan_auto_renew
ON member
FOR EACH ROW WHEN (
    (
        OLD.login_id, OLD.display_name, OLD.locale, OLD.role, OLD.status,
        OLD.plan, OLD.plan_expires_at, OLD.plan_auto_renew
    ) IS DISTINCT FROM (
        NEW.login_id, NEW.display_name, NEW.locale, NEW.role, NEW.status,
        NEW.plan, NEW.plan_expires_at, NEW.plan_auto_renew
    )
)
EXECUTE FUNCTION update_member_sessions();

-- migrate:down
DROP TRIGGER update_member_sessions ON member;
DROP FUNCTION update_member_sessions();
