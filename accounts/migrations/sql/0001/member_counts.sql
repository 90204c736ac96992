-- Count members by role, status and plan.
--
-- Rows are only ever added, +1 for a new member and -1 for a deleted one, so that
-- sign-ups do not wait for each other; a daily job adds the rows up. A statement over
-- many members adds one row for each combination.

-- migrate:up
CREATE OR REPLACE FUNCTION count_inserted_members()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO member_count (role, status, plan, count)
    SELECT role, status, plan, count(*) FROM new_rows GROUP BY role, status, plan;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION count_deleted_members()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO member_count (role, status, plan, count)
    SELECT role, status, plan, -count(*) FROM old_rows GROUP BY role, status, plan;
    RETURN NULL;
END
$$;

-- A row trigger: only such a one may name columns, and most updates of a member
-- (points, the profile) are not to be looked at.
CREATE OR REPLACE FUNCTION count_updated_member()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO member_count (role, status, plan, count)
    VALUES
        (OLD.role, OLD.status, OLD.plan, -1),
        (NEW.role, NEW.status, NEW.plan, 1);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER count_inserted_members
AFTER INSERT ON member
REFERENCING NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_members();

CREATE OR REPLACE TRIGGER count_deleted_members
AFTER DELETE ON member
REFERENCING OLD TABLE AS old_rows
FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_members();

CREATE OR REPLACE TRIGGER count_updated_member
AFTER UPDATE OF role, status, plan ON member
FOR EACH ROW WHEN (
    (OLD.role, OLD.status, OLD.plan) IS DISTINCT FROM (NEW.role, NEW.status, NEW.plan)
)
EXECUTE FUNCTION count_updated_member();

-- migrate:down
DROP TRIGGER count_inserted_members ON member;
DROP TRIGGER count_deleted_members ON member;
DROP TRIGGER count_updated_member ON member;
DROP FUNCTION count_inserted_members();
DROP FUNCTION count_deleted_members();
DROP FUNCTION count_updated_member();
