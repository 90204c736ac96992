"""Premium begins with the role of an administrator too.

`plan_since` is when premium began without a break, by a plan that runs or by the role:
recurring transactions of a member who becomes an administrator catch up from that day
on, not over the time before it. Nothing else moves it, not even a row that is written
back whole by somebody who read it earlier.

When the role came to those who have it is not known. The job has booked for them up to
now, so that all that waits is due to a downtime and is theirs to have.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION has_premium(member member) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (member).role = 'ADMIN' OR plan_runs(member)
$$;

CREATE OR REPLACE FUNCTION member_plan_since() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT has_premium(NEW) THEN
        NEW.plan_since := NULL;
    ELSIF TG_OP = 'INSERT' OR NOT has_premium(OLD) THEN
        NEW.plan_since := now();
    ELSE
        NEW.plan_since := OLD.plan_since;
    END IF;
    RETURN NEW;
END
$$;

DROP TRIGGER member_plan_since ON member;
CREATE TRIGGER member_plan_since
BEFORE INSERT OR UPDATE OF role, plan, plan_expires_at, plan_auto_renew ON member
FOR EACH ROW EXECUTE FUNCTION member_plan_since();

UPDATE member SET plan_since = created_at WHERE role = 'ADMIN';
"""

DROP = """
CREATE OR REPLACE FUNCTION member_plan_since() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT plan_runs(NEW) THEN
        NEW.plan_since := NULL;
    ELSIF TG_OP = 'INSERT' OR NOT plan_runs(OLD) THEN
        NEW.plan_since := now();
    END IF;
    RETURN NEW;
END
$$;

DROP TRIGGER member_plan_since ON member;
CREATE TRIGGER member_plan_since
BEFORE INSERT OR UPDATE OF plan, plan_expires_at, plan_auto_renew ON member
FOR EACH ROW EXECUTE FUNCTION member_plan_since();

DROP FUNCTION has_premium(member);

UPDATE member SET plan_since = NULL WHERE NOT plan_runs(member);
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_plan_since")]
    operations = [migrations.RunSQL(CREATE, DROP)]
