-- Keep the totals of entries: in the ledger, by day, by month and wallet, by month and
-- category, by wallet, by memo, and by tag for entries that change with their tags on.
--
-- Row triggers, so that no way of writing entries can forget the totals, with plain
-- statements that each concern one member, so that they also run where the tables are
-- distributed by member. Who writes many rows at once (`ledger.rollups`) sets
-- `ledger.is_bulk_write` for the transaction and computes the totals anew afterwards.
--
-- Locks: the ledger comes first, in the triggers of tags too (tag_totals.sql). An entry
-- is written before its tags and deleted after them: without that row, two writers of
-- one member could wait for each other's totals.
--
-- Memos are compared in lower case and without blanks, the no-break space and the wide
-- blank of Korean and Japanese texts included. Categories are learned from them.

-- migrate:up
CREATE OR REPLACE FUNCTION account_entry_totals()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    signs constant int[] := CASE TG_OP
        WHEN 'INSERT' THEN '{1}' WHEN 'DELETE' THEN '{-1}' ELSE '{-1,1}' END;
    sign int;
    entry record;
    first_of_month date;
    new_income bigint;
    new_expense bigint;
    new_change bigint;
    new_income_count int;
    new_expense_count int;
    new_pending_income_count int;
    new_pending_expense_count int;
    short_memo text;
BEGIN
    -- An update takes the old row off the totals and puts the new one on.
    FOREACH sign IN ARRAY signs LOOP
        IF sign = 1 THEN
            entry := NEW;
        ELSE
            entry := OLD;
        END IF;
        first_of_month := entry.date - (extract(day FROM entry.date)::int - 1);
        new_income := 0;
        new_expense := 0;
        new_income_count := 0;
        new_expense_count := 0;
        new_pending_income_count := 0;
        new_pending_expense_count := 0;
        IF entry.type = 'income' THEN
            new_change := sign * entry.amount;
            IF entry.pending THEN
                new_pending_income_count := sign;
            ELSE
                new_income_count := sign;
            END IF;
        ELSE
            new_change := -sign * entry.amount;
            IF entry.pending THEN
                new_pending_expense_count := sign;
            ELSE
                new_expense_count := sign;
            END IF;
        END IF;
        -- See ledger/effects.py.
        IF entry.pending THEN
            new_change := 0;
        ELSIF entry.category_type = 'income' THEN
            new_income := new_change;
        ELSE
            new_expense := -new_change;
        END IF;

        UPDATE account_ledger
        SET income_count = income_count + new_income_count,
            expense_count = expense_count + new_expense_count,
            pending_income_count = pending_income_count + new_pending_income_count,
            pending_expense_count = pending_expense_count + new_pending_expense_count
        WHERE member_id = entry.member_id;

        INSERT INTO account_day_total AS stored (
            member_id, date, income, expense, wallet_change,
            income_count, expense_count, pending_income_count, pending_expense_count
        ) VALUES (
            entry.member_id, entry.date, new_income, new_expense,
            CASE WHEN entry.wallet_id IS NULL THEN 0 ELSE new_change END,
            new_income_count, new_expense_count,
            new_pending_income_count, new_pending_expense_count
        )
        ON CONFLICT (member_id, date) DO UPDATE
        SET income = stored.income + excluded.income,
            expense = stored.expense + excluded.expense,
            wallet_change = stored.wallet_change + excluded.wallet_change,
            income_count = stored.income_count + excluded.income_count,
            expense_count = stored.expense_count + excluded.expense_count,
            pending_income_count =
                stored.pending_income_count + excluded.pending_income_count,
            pending_expense_count =
                stored.pending_expense_count + excluded.pending_expense_count;

        INSERT INTO account_wallet_month_total AS stored (
            member_id, month, wallet_id, income, expense,
            income_count, expense_count, pending_income_count, pending_expense_count
        ) VALUES (
            entry.member_id, first_of_month, coalesce(entry.wallet_id, 0),
            new_income, new_expense, new_income_count, new_expense_count,
            new_pending_income_count, new_pending_expense_count
        )
        ON CONFLICT (member_id, month, wallet_id) DO UPDATE
        SET income = stored.income + excluded.income,
            expense = stored.expense + excluded.expense,
            income_count = stored.income_count + excluded.income_count,
            expense_count = stored.expense_count + excluded.expense_count,
            pending_income_count =
                stored.pending_income_count + excluded.pending_income_count,
            pending_expense_count =
                stored.pending_expense_count + excluded.pending_expense_count;

        INSERT INTO account_category_total AS stored (
            member_id, month, type, category_id, amount, entry_count, pending_count
        ) VALUES (
            entry.member_id, first_of_month, entry.category_type,
            coalesce(entry.category_id, 0),
            new_income + new_expense, new_income_count + new_expense_count,
            new_pending_income_count + new_pending_expense_count
        )
        ON CONFLICT (member_id, month, type, category_id) DO UPDATE
        SET amount = stored.amount + excluded.amount,
            entry_count = stored.entry_count + excluded.entry_count,
            pending_count = stored.pending_count + excluded.pending_count;

        IF entry.wallet_id IS NOT NULL THEN
            INSERT INTO account_wallet_total AS stored
                (member_id, wallet_id, balance, entry_count)
            VALUES (entry.member_id, entry.wallet_id, new_change, sign)
            ON CONFLICT (member_id, wallet_id) DO UPDATE
            SET balance = stored.balance + excluded.balance,
                entry_count = stored.entry_count + excluded.entry_count;
        END IF;

        IF NOT entry.pending AND entry.category_id IS NOT NULL THEN
            short_memo := translate(lower(entry.memo), E' \t\n\u00a0\u3000', '');
            IF short_memo <> '' THEN
                INSERT INTO account_memo_total AS stored
                    (member_id, type, memo, category_id, entry_count)
                VALUES (
                    entry.member_id, entry.category_type, short_memo,
                    entry.category_id, sign
                )
                ON CONFLICT (member_id, type, memo, category_id) DO UPDATE
                SET entry_count = stored.entry_count + excluded.entry_count;
            END IF;
        END IF;

        -- A new entry gets its tags afterwards, a deleted one has lost them before.
        IF TG_OP = 'UPDATE' AND NOT entry.pending THEN
            INSERT INTO account_tag_total AS stored
                (member_id, month, type, tag_id, amount, entry_count)
            SELECT link.member_id, first_of_month, entry.category_type, link.tag_id,
                new_income + new_expense, sign
            FROM account_entry_tag link
            WHERE link.member_id = entry.member_id AND link.entry_id = entry.id
            ON CONFLICT (member_id, month, type, tag_id) DO UPDATE
            SET amount = stored.amount + excluded.amount,
                entry_count = stored.entry_count + excluded.entry_count;
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER account_entry_totals
AFTER INSERT OR DELETE ON account_entry
FOR EACH ROW
WHEN (current_setting('ledger.is_bulk_write', true) IS DISTINCT FROM 'on')
EXECUTE FUNCTION account_entry_totals();

CREATE OR REPLACE TRIGGER account_entry_totals_update
AFTER UPDATE ON account_entry
FOR EACH ROW
WHEN (
    (OLD.date, OLD.type, OLD.category_type, OLD.amount, OLD.category_id,
        OLD.wallet_id, OLD.memo, OLD.pending)
    IS DISTINCT FROM
    (NEW.date, NEW.type, NEW.category_type, NEW.amount, NEW.category_id,
        NEW.wallet_id, NEW.memo, NEW.pending)
    AND current_setting('ledger.is_bulk_write', true) IS DISTINCT FROM 'on'
)
EXECUTE FUNCTION account_entry_totals();

-- migrate:down
DROP TRIGGER account_entry_totals ON account_entry;
DROP TRIGGER account_entry_totals_update ON account_entry;
DROP FUNCTION account_entry_totals();
