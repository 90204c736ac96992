"""When PREMIUM began without a break, kept by the database.

Whatever writes the plan (a purchase, an administrator, a job), the moment at which a
member without a running plan gets one is noted: recurring transactions catch up from
then on, not from before. A plan that has expired without auto-renew runs no longer.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION plan_runs(member member) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (member).plan = 'PREMIUM' AND (
        (member).plan_expires_at IS NULL OR (member).plan_expires_at > now()
        OR (member).plan_auto_renew
    )
$$;

CREATE FUNCTION member_plan_since() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT plan_runs(NEW) THEN
        NEW.plan_since := NULL;
    ELSIF TG_OP = 'INSERT' OR NOT plan_runs(OLD) THEN
        NEW.plan_since := now();
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER member_plan_since
BEFORE INSERT OR UPDATE OF plan, plan_expires_at, plan_auto_renew ON member
FOR EACH ROW EXECUTE FUNCTION member_plan_since();

UPDATE member SET plan_since = now() WHERE plan_runs(member);
"""

DROP = """
DROP TRIGGER member_plan_since ON member;
DROP FUNCTION member_plan_since();
DROP FUNCTION plan_runs(member);
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_plan_since")]
    operations = [migrations.RunSQL(CREATE, DROP)]
