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
    entry record;
    first_of_month date;
    flow bigint;
BEGIN
    FOREACH sign IN ARRAY signs LOOP
        IF sign = 1 THEN
            link := NEW;
        ELSE
            link := OLD;
        END IF;
        PERFORM FROM account_ledger WHERE member_id = link.member_id
        FOR NO KEY UPDATE;

        SELECT * INTO entry FROM account_entry
        WHERE member_id = link.member_id AND id = link.entry_id;
        first_of_month := entry.date - (extract(day FROM entry.date)::int - 1);
        -- See ledger/rollups/effects.py.
        CONTINUE WHEN entry.pending OR entry.excluded OR entry.line_count IS NULL
            OR entry.to_wallet_id IS NOT NULL;
        IF entry.line_count = 0 THEN
            flow := sign * CASE
                WHEN (entry.type = 'income') = (entry.category_type = 'income')
                THEN entry.amount ELSE -entry.amount END;
            INSERT INTO account_tag_total AS stored
                (member_id, month, type, tag_id, amount, refunded, entry_count)
            VALUES (
                entry.member_id, first_of_month, entry.category_type, link.tag_id, flow,
                CASE WHEN entry.is_reversal AND entry.category_type = 'expense'
                    THEN -flow ELSE 0 END,
                sign
            )
            ON CONFLICT (member_id, month, type, tag_id) DO UPDATE
            SET amount = stored.amount + excluded.amount,
                refunded = stored.refunded + excluded.refunded,
                entry_count = stored.entry_count + excluded.entry_count;
        ELSE
            -- An entry with both types counts once, as an expense, the first of them.
            INSERT INTO account_tag_total AS stored
                (member_id, month, type, tag_id, amount, refunded, entry_count)
            SELECT entry.member_id, first_of_month, category_type, link.tag_id,
                sign * sum(line_flow),
                CASE category_type WHEN 'expense'
                    THEN -sign * sum(least(line_flow, 0)) ELSE 0 END,
                CASE category_type WHEN min(category_type) OVER ()
                    THEN sign ELSE 0 END
            FROM (
                SELECT category_type,
                    CASE WHEN (entry.type = 'income') = (category_type = 'income')
                        THEN amount ELSE -amount END AS line_flow
                FROM account_entry_line
                WHERE member_id = entry.member_id AND entry_id = entry.id
                    AND wallet_id IS NULL
            ) lines
            GROUP BY category_type
            ON CONFLICT (member_id, month, type, tag_id) DO UPDATE
            SET amount = stored.amount + excluded.amount,
                refunded = stored.refunded + excluded.refunded,
                entry_count = stored.entry_count + excluded.entry_count;
        END IF;
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
