-- Note what the feed of changes cannot read from a row (spec 3.26): deletions, changes of
-- settings, and the client ids of deleted entries, which are never used again.
--
-- The revision is that of the transaction, as in versions.sql. Who replaces a whole ledger
-- sets `ledger.is_replaced` for the transaction: its clients start anew.

-- migrate:up
CREATE OR REPLACE FUNCTION account_note_deletion()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    given constant text := current_setting('ledger.revision', true);
    ledger constant text := OLD.member_id || ':';
    new_revision bigint;
BEGIN
    IF current_setting('ledger.is_replaced', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF starts_with(given, ledger) THEN
        new_revision := substr(given, length(ledger) + 1);
    ELSE
        UPDATE account_ledger SET revision = revision + 1 WHERE member_id = OLD.member_id
        RETURNING revision INTO new_revision;
        PERFORM set_config('ledger.revision', ledger || new_revision, true);
    END IF;
    INSERT INTO account_tombstone (member_id, kind, row_id, version)
    VALUES (OLD.member_id, TG_ARGV[0], OLD.id, new_revision)
    ON CONFLICT (member_id, kind, row_id) DO UPDATE
    SET version = excluded.version, deleted_at = excluded.deleted_at;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION account_keep_client_id()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('ledger.is_replaced', true) = 'on' THEN
        RETURN NULL;
    END IF;
    INSERT INTO account_deleted_client_id (member_id, client_id)
    VALUES (OLD.member_id, OLD.client_id)
    ON CONFLICT (member_id, client_id) DO NOTHING;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION account_stamp_settings()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    given constant text := current_setting('ledger.revision', true);
    ledger constant text := NEW.member_id || ':';
BEGIN
    IF starts_with(given, ledger) THEN
        NEW.settings_version := substr(given, length(ledger) + 1);
        RETURN NEW;
    END IF;
    NEW.revision := OLD.revision + 1;
    NEW.settings_version := NEW.revision;
    PERFORM set_config('ledger.revision', ledger || NEW.revision, true);
    RETURN NEW;
END
$$;

-- In the order of the writers, so that none of them is in a deadlock with this.
CREATE OR REPLACE TRIGGER account_stamp_settings BEFORE UPDATE OF captures_bank_texts
ON account_ledger FOR EACH ROW EXECUTE FUNCTION account_stamp_settings();
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_category
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('category');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('wallet');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_tag
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('tag');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_quick_entry
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('quickEntry');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_recurring
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('recurring');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON invest_stock
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('stock');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON invest_trade
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('trade');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_budget
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('budget');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_budget_income
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('budgetIncome');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_valuation
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('valuation');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_card
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('card');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_card_bill
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('bill');
CREATE OR REPLACE TRIGGER account_note_deletion AFTER DELETE ON account_entry
FOR EACH ROW EXECUTE FUNCTION account_note_deletion('entry');
CREATE OR REPLACE TRIGGER account_keep_client_id AFTER DELETE ON account_entry
FOR EACH ROW WHEN (OLD.client_id IS NOT NULL) EXECUTE FUNCTION account_keep_client_id();

-- migrate:down
DROP TRIGGER account_note_deletion ON account;
DROP TRIGGER account_note_deletion ON account_budget;
DROP TRIGGER account_note_deletion ON account_budget_income;
DROP TRIGGER account_note_deletion ON account_card;
DROP TRIGGER account_note_deletion ON account_card_bill;
DROP TRIGGER account_note_deletion ON account_category;
DROP TRIGGER account_note_deletion ON account_entry;
DROP TRIGGER account_note_deletion ON account_quick_entry;
DROP TRIGGER account_note_deletion ON account_recurring;
DROP TRIGGER account_note_deletion ON account_tag;
DROP TRIGGER account_note_deletion ON account_valuation;
DROP TRIGGER account_note_deletion ON invest_stock;
DROP TRIGGER account_note_deletion ON invest_trade;
DROP TRIGGER account_keep_client_id ON account_entry;
DROP TRIGGER account_stamp_settings ON account_ledger;
DROP FUNCTION account_note_deletion();
DROP FUNCTION account_keep_client_id();
DROP FUNCTION account_stamp_settings();
