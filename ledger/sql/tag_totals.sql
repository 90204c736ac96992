-- Keep the totals of tags by month, when tags are put on entries and taken off.
--
-- (What changes an entry that has its tags on is in entry_totals.sql, which also says
-- why these are row triggers, and what `ledger.is_bulk_write` is for.)
--
-- The link of a tag never outlives its entry: who deletes entries deletes their links
-- first, while the entries still tell the amounts. That foreign key does not cascade.
--
-- Locks: the member's ledger first, see entry_totals.sql.

-- migrate:up
CREATE OR REPLACE FUNCTION account_entry_tag_totals()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    signs constant int[] := CASE TG_OP
        WHEN 'INSERT' THEN '{1}' WHEN 'DELETE' THEN '{-1}' ELSE '{-1,1}' END;
    sign int;
    link record;
BEGIN
    FOREACH sign IN ARRAY signs LOOP
        IF sign = 1 THEN
            link := NEW;
        ELSE
            link := OLD;
        END IF;
        PERFORM FROM account_ledger WHERE member_id = link.member_id
        FOR NO KEY UPDATE;

        INSERT INTO account_tag_total AS stored
            (member_id, month, type, tag_id, amount, entry_count)
        SELECT entry.member_id, entry.date - (extract(day FROM entry.date)::int - 1),
            entry.category_type, link.tag_id,
            -- See ledger/effects.py.
            CASE WHEN (entry.type = 'income') = (entry.category_type = 'income')
                THEN sign * entry.amount ELSE -sign * entry.amount END,
            sign
        FROM account_entry entry
        WHERE entry.member_id = link.member_id AND entry.id = link.entry_id
            AND NOT entry.pending
        ON CONFLICT (member_id, month, type, tag_id) DO UPDATE
        SET amount = stored.amount + excluded.amount,
            entry_count = stored.entry_count + excluded.entry_count;
    END LOOP;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER account_entry_tag_totals
AFTER INSERT OR DELETE OR UPDATE OF entry_id, tag_id ON account_entry_tag
FOR EACH ROW
WHEN (current_setting('ledger.is_bulk_write', true) IS DISTINCT FROM 'on')
EXECUTE FUNCTION account_entry_tag_totals();

-- migrate:down
DROP TRIGGER account_entry_tag_totals ON account_entry_tag;
DROP FUNCTION account_entry_tag_totals();
