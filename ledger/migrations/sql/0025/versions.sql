-- Stamp the rows that clients keep a copy of with the revision of their ledger (spec 3.22).
--
-- The first such row of a transaction raises the revision, which the setting
-- `ledger.revision` then holds until the end of the transaction, or of the savepoint that
-- raised it. The lock of `ledger_write` lasts until the commit: a revision is only given
-- after all earlier ones can be read.
--
-- A row trigger, so that no way of writing can forget the version. What a row only refers
-- to is no part of it: the names of its wallet, category and tags, and sums.

-- migrate:up
CREATE OR REPLACE FUNCTION account_stamp_version()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    given constant text := current_setting('ledger.revision', true);
    ledger constant text := NEW.member_id || ':';
BEGIN
    IF starts_with(given, ledger) THEN
        NEW.version := substr(given, length(ledger) + 1);
        RETURN NEW;
    END IF;
    UPDATE account_ledger SET revision = revision + 1 WHERE member_id = NEW.member_id
    RETURNING revision INTO NEW.version;
    IF NOT FOUND THEN
        -- The foreign key refuses the row.
        NEW.version := 0;
        RETURN NEW;
    END IF;
    PERFORM set_config('ledger.revision', ledger || NEW.version, true);
    RETURN NEW;
END
$$;

-- In the order of the writers, so that none of them is in a deadlock with this.
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_category
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_tag
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_quick_entry
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_recurring
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON invest_stock
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON invest_trade
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_budget
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_budget_income
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_valuation
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_card
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_card_bill
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();
CREATE OR REPLACE TRIGGER account_stamp_version BEFORE INSERT OR UPDATE ON account_entry
FOR EACH ROW EXECUTE FUNCTION account_stamp_version();

-- migrate:down
DROP TRIGGER account_stamp_version ON account;
DROP TRIGGER account_stamp_version ON account_budget;
DROP TRIGGER account_stamp_version ON account_budget_income;
DROP TRIGGER account_stamp_version ON account_card;
DROP TRIGGER account_stamp_version ON account_card_bill;
DROP TRIGGER account_stamp_version ON account_category;
DROP TRIGGER account_stamp_version ON account_entry;
DROP TRIGGER account_stamp_version ON account_quick_entry;
DROP TRIGGER account_stamp_version ON account_recurring;
DROP TRIGGER account_stamp_version ON account_tag;
DROP TRIGGER account_stamp_version ON account_valuation;
DROP TRIGGER account_stamp_version ON invest_stock;
DROP TRIGGER account_stamp_version ON invest_trade;
DROP FUNCTION account_stamp_version();
