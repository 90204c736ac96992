"""The counts of members follow the table of members, whoever writes it.

Rows are only ever added, so that sign-ups do not wait for each other. Inserts and
deletes of many members add one row for each kind.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION tally_new_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO member_tally (role, status, plan, members)
    SELECT role, status, plan, count(*) FROM new_members GROUP BY 1, 2, 3;
    RETURN NULL;
END
$$;

CREATE FUNCTION tally_gone_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO member_tally (role, status, plan, members)
    SELECT role, status, plan, -count(*) FROM gone_members GROUP BY 1, 2, 3;
    RETURN NULL;
END
$$;

CREATE FUNCTION tally_changed_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO member_tally (role, status, plan, members)
    VALUES (OLD.role, OLD.status, OLD.plan, -1), (NEW.role, NEW.status, NEW.plan, 1);
    RETURN NULL;
END
$$;

CREATE TRIGGER tally_new_members AFTER INSERT ON member
REFERENCING NEW TABLE AS new_members
FOR EACH STATEMENT EXECUTE FUNCTION tally_new_members();

CREATE TRIGGER tally_gone_members AFTER DELETE ON member
REFERENCING OLD TABLE AS gone_members
FOR EACH STATEMENT EXECUTE FUNCTION tally_gone_members();

CREATE TRIGGER tally_changed_member AFTER UPDATE OF role, status, plan ON member
FOR EACH ROW WHEN (
    (OLD.role, OLD.status, OLD.plan) IS DISTINCT FROM (NEW.role, NEW.status, NEW.plan)
)
EXECUTE FUNCTION tally_changed_member();

INSERT INTO member_tally (role, status, plan, members)
SELECT role, status, plan, count(*) FROM member GROUP BY 1, 2, 3;
"""

DROP = """
DROP TRIGGER tally_new_members ON member;
DROP TRIGGER tally_gone_members ON member;
DROP TRIGGER tally_changed_member ON member;
DROP FUNCTION tally_new_members();
DROP FUNCTION tally_gone_members();
DROP FUNCTION tally_changed_member();
DELETE FROM member_tally;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("administration", "0006_figures"),
        ("accounts", "0008_member_search"),
    ]
    operations = [migrations.RunSQL(CREATE, DROP)]
