-- Who has premium now, and since when.
--
-- A plan runs until it expires; with auto-renew on, the store decides when it ends
-- (spec 6.1). Administrators have premium by their role. The same rule in Python is
-- `Member.has_premium` and `Member.objects.with_premium`; a test compares the three.
--
-- `premium_since` is the moment at which premium began without a break. Recurring
-- transactions catch up from then on, not over the time before. A trigger sets it,
-- whatever writes the plan or the role: a purchase, an administrator, a job.

-- migrate:up
CREATE OR REPLACE FUNCTION has_running_plan(member member)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (member).plan = 'PREMIUM' AND (
        (member).plan_expires_at IS NULL
        OR (member).plan_expires_at > now()
        OR (member).plan_auto_renew
    )
$$;

CREATE OR REPLACE FUNCTION has_premium(member member)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (member).role = 'ADMIN' OR has_running_plan(member)
$$;

CREATE OR REPLACE FUNCTION member_premium_since()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT has_premium(NEW) THEN
        NEW.premium_since := NULL;
    ELSIF TG_OP = 'INSERT' OR NOT has_premium(OLD) THEN
        NEW.premium_since := now();
    ELSE
        -- Nothing else moves it: not even a whole row that is saved with the value
        -- that somebody read earlier.
        NEW.premium_since := OLD.premium_since;
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER member_premium_since
BEFORE INSERT OR UPDATE OF role, plan, plan_expires_at, plan_auto_renew ON member
FOR EACH ROW EXECUTE FUNCTION member_premium_since();

-- migrate:down
DROP TRIGGER member_premium_since ON member;
DROP FUNCTION member_premium_since();
DROP FUNCTION has_premium(member);
DROP FUNCTION has_running_plan(member);
