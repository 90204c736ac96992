-- The audit log is append-only: no statement of the service changes or deletes a row.

-- migrate:up
CREATE OR REPLACE FUNCTION refuse_audit_log_change()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit_log is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE OR REPLACE TRIGGER refuse_audit_log_change
BEFORE UPDATE OR DELETE ON audit_log
FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();

-- migrate:down
DROP TRIGGER refuse_audit_log_change ON audit_log;
DROP FUNCTION refuse_audit_log_change();
