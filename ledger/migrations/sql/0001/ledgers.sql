-- Create the ledger of a member with the member, however members are created.

-- migrate:up
CREATE OR REPLACE FUNCTION account_create_ledger()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_ledger (member_id) VALUES (NEW.id);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER account_create_ledger
AFTER INSERT ON member
FOR EACH ROW EXECUTE FUNCTION account_create_ledger();

INSERT INTO account_ledger (member_id) SELECT id FROM member ON CONFLICT DO NOTHING;

-- migrate:down
DROP TRIGGER account_create_ledger ON member;
DROP FUNCTION account_create_ledger();
