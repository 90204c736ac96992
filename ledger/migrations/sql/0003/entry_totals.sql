-- Keep the totals of entries: in the ledger, by day, by month and wallet, by month and
-- category, by wallet, by memo, and by tag for entries that change with their tags on.
-- What an entry adds to them is defined in ledger/rollups/effects.py.
--
-- Row triggers, so that no way of writing entries can forget the totals, with plain
-- statements that each concern one member, so that they also run where the tables are
-- distributed by member. Who writes many rows at once (`ledger.rollups.definitions`) sets
-- `ledger.is_bulk_write` for the transaction and computes the totals anew afterwards.
--
-- Lines of a split entry can be written only while its `line_count` is NULL: then it is
-- in no total. With the number of its lines it is booked by them, after a check that
-- they add up. A change of lines takes the entry off the totals before, and puts it on
-- them afterwards, once for all lines.
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
    -- 1 for money into the wallet, -1 for money out of it.
    direction int;
    counts_in_flows boolean;
    new_change bigint;
    new_income bigint;
    new_expense bigint;
    new_refunded bigint;
    new_in bigint;
    new_out bigint;
    has_income boolean;
    has_expense boolean;
    new_income_count int;
    new_expense_count int;
    new_transfer_count int;
    new_pending_income_count int;
    new_pending_expense_count int;
    new_pending_transfer_count int;
    short_memo text;
BEGIN
    -- An update takes the old row off the totals and puts the new one on.
    FOREACH sign IN ARRAY signs LOOP
        IF sign = 1 THEN
            entry := NEW;
        ELSE
            entry := OLD;
        END IF;
        CONTINUE WHEN entry.line_count IS NULL;
        first_of_month := entry.date - (extract(day FROM entry.date)::int - 1);
        direction := CASE entry.type WHEN 'income' THEN 1 ELSE -1 END;
        counts_in_flows := NOT entry.pending AND NOT entry.excluded;
        new_income_count := 0;
        new_expense_count := 0;
        new_transfer_count := 0;
        new_pending_income_count := 0;
        new_pending_expense_count := 0;
        new_pending_transfer_count := 0;
        CASE entry.type
            WHEN 'income' THEN
                IF entry.pending THEN
                    new_pending_income_count := sign;
                ELSE
                    new_income_count := sign;
                END IF;
            WHEN 'expense' THEN
                IF entry.pending THEN
                    new_pending_expense_count := sign;
                ELSE
                    new_expense_count := sign;
                END IF;
            ELSE
                IF entry.pending THEN
                    new_pending_transfer_count := sign;
                ELSE
                    new_transfer_count := sign;
                END IF;
        END CASE;

        UPDATE account_ledger
        SET income_count = income_count + new_income_count,
            expense_count = expense_count + new_expense_count,
            transfer_count = transfer_count + new_transfer_count,
            pending_income_count = pending_income_count + new_pending_income_count,
            pending_expense_count = pending_expense_count + new_pending_expense_count,
            pending_transfer_count =
                pending_transfer_count + new_pending_transfer_count
        WHERE member_id = entry.member_id;

        -- The usual entry: one category of its own type, or none, and no other wallet.
        IF entry.line_count = 0 AND entry.to_wallet_id IS NULL
            AND NOT entry.is_reversal AND NOT entry.excluded
        THEN
            new_change := CASE WHEN entry.pending THEN 0
                ELSE sign * direction * entry.amount END;
            has_income := direction = 1;
            has_expense := direction = -1;
            new_income := greatest(direction, 0) * new_change;
            new_expense := least(direction, 0) * new_change;
            new_refunded := 0;

            INSERT INTO account_day_total AS stored (
                member_id, date, income, expense, wallet_change, flow_count,
                income_count, expense_count, pending_income_count, pending_expense_count
            ) VALUES (
                entry.member_id, entry.date, new_income, new_expense,
                CASE WHEN entry.wallet_id IS NULL THEN 0 ELSE new_change END,
                new_income_count + new_expense_count,
                new_income_count, new_expense_count,
                new_pending_income_count, new_pending_expense_count
            )
            ON CONFLICT (member_id, date) DO UPDATE
            SET income = stored.income + excluded.income,
                expense = stored.expense + excluded.expense,
                wallet_change = stored.wallet_change + excluded.wallet_change,
                flow_count = stored.flow_count + excluded.flow_count,
                income_count = stored.income_count + excluded.income_count,
                expense_count = stored.expense_count + excluded.expense_count,
                pending_income_count =
                    stored.pending_income_count + excluded.pending_income_count,
                pending_expense_count =
                    stored.pending_expense_count + excluded.pending_expense_count;

            INSERT INTO account_wallet_month_total AS stored (
                member_id, month, wallet_id, income, expense, wallet_change, flow_count,
                income_count, expense_count, pending_income_count, pending_expense_count
            ) VALUES (
                entry.member_id, first_of_month, coalesce(entry.wallet_id, 0),
                new_income, new_expense, new_change,
                new_income_count + new_expense_count,
                new_income_count, new_expense_count,
                new_pending_income_count, new_pending_expense_count
            )
            ON CONFLICT (member_id, month, wallet_id) DO UPDATE
            SET income = stored.income + excluded.income,
                expense = stored.expense + excluded.expense,
                wallet_change = stored.wallet_change + excluded.wallet_change,
                flow_count = stored.flow_count + excluded.flow_count,
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

            -- Only the usual entry teaches a category.
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
        ELSE
            -- Of the lines, or of the entry itself as its only line: what flows of
            -- either type, and what comes in and goes out by other wallets.
            SELECT
                coalesce(sum(flow) FILTER (WHERE is_income), 0),
                coalesce(sum(flow) FILTER (WHERE is_expense), 0),
                coalesce(-sum(flow) FILTER (WHERE is_expense AND flow < 0), 0),
                coalesce(bool_or(is_income), false),
                coalesce(bool_or(is_expense), false),
                coalesce(sum(greatest(direction * line.amount, 0))
                    FILTER (WHERE line.wallet_id IS NOT NULL), 0),
                coalesce(sum(greatest(-direction * line.amount, 0))
                    FILTER (WHERE line.wallet_id IS NOT NULL), 0)
            INTO new_income, new_expense, new_refunded, has_income, has_expense,
                new_in, new_out
            FROM (
                SELECT part.*,
                    part.wallet_id IS NULL AND category_type = 'income' AS is_income,
                    part.wallet_id IS NULL AND category_type = 'expense' AS is_expense,
                    CASE WHEN (direction = 1) = (category_type = 'income')
                        THEN part.amount ELSE -part.amount END AS flow
                FROM (
                    SELECT amount, category_type, wallet_id FROM account_entry_line
                    WHERE member_id = entry.member_id AND entry_id = entry.id
                        AND entry.line_count > 0
                    UNION ALL
                    SELECT entry.amount, entry.category_type, entry.to_wallet_id
                    WHERE entry.line_count = 0
                ) part
            ) line;
            IF sign = 1 AND entry.line_count > 0 THEN
                PERFORM FROM account_entry_line
                WHERE member_id = entry.member_id AND entry_id = entry.id
                HAVING count(*) = entry.line_count AND sum(amount) = entry.amount
                    AND count(*) FILTER (WHERE wallet_id = entry.wallet_id) = 0
                    AND (entry.wallet_id IS NOT NULL OR count(wallet_id) = 0)
                    AND (entry.type <> 'transfer' OR count(wallet_id) > 0);
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'the lines of entry % do not fit it', entry.id
                    USING ERRCODE = 'check_violation',
                        CONSTRAINT = 'account_entry_lines_fit';
                END IF;
            END IF;
            new_change := CASE WHEN entry.pending THEN 0
                ELSE sign * direction * entry.amount END;
            new_income := sign * new_income;
            new_expense := sign * new_expense;
            new_refunded := sign * new_refunded;
            new_in := sign * new_in;
            new_out := sign * new_out;

            INSERT INTO account_day_total AS stored (
                member_id, date, income, expense, refunded, excluded_income,
                excluded_expense, flow_count, excluded_count, transferring_count,
                wallet_change, transferred, income_count, expense_count, transfer_count,
                pending_income_count, pending_expense_count, pending_transfer_count
            )
            SELECT entry.member_id, entry.date,
                CASE WHEN counts_in_flows THEN new_income ELSE 0 END,
                CASE WHEN counts_in_flows THEN new_expense ELSE 0 END,
                CASE WHEN counts_in_flows THEN new_refunded ELSE 0 END,
                CASE WHEN is_left_out THEN new_income ELSE 0 END,
                CASE WHEN is_left_out THEN new_expense ELSE 0 END,
                CASE WHEN counts_in_flows AND has_flow THEN sign ELSE 0 END,
                CASE WHEN is_left_out AND has_flow THEN sign ELSE 0 END,
                CASE WHEN counts_in_flows AND new_in + new_out <> 0
                    THEN sign ELSE 0 END,
                CASE WHEN entry.pending OR entry.wallet_id IS NULL THEN 0
                    ELSE new_income - new_expense END,
                CASE WHEN counts_in_flows THEN new_in + new_out ELSE 0 END,
                new_income_count, new_expense_count, new_transfer_count,
                new_pending_income_count, new_pending_expense_count,
                new_pending_transfer_count
            FROM (
                SELECT has_income OR has_expense AS has_flow,
                    NOT entry.pending AND entry.excluded AS is_left_out
            ) kind
            ON CONFLICT (member_id, date) DO UPDATE
            SET income = stored.income + excluded.income,
                expense = stored.expense + excluded.expense,
                refunded = stored.refunded + excluded.refunded,
                excluded_income = stored.excluded_income + excluded.excluded_income,
                excluded_expense = stored.excluded_expense + excluded.excluded_expense,
                flow_count = stored.flow_count + excluded.flow_count,
                excluded_count = stored.excluded_count + excluded.excluded_count,
                transferring_count =
                    stored.transferring_count + excluded.transferring_count,
                wallet_change = stored.wallet_change + excluded.wallet_change,
                transferred = stored.transferred + excluded.transferred,
                income_count = stored.income_count + excluded.income_count,
                expense_count = stored.expense_count + excluded.expense_count,
                transfer_count = stored.transfer_count + excluded.transfer_count,
                pending_income_count =
                    stored.pending_income_count + excluded.pending_income_count,
                pending_expense_count =
                    stored.pending_expense_count + excluded.pending_expense_count,
                pending_transfer_count =
                    stored.pending_transfer_count + excluded.pending_transfer_count;

            -- The wallet of the entry, then those of its lines.
            INSERT INTO account_wallet_month_total AS stored (
                member_id, month, wallet_id, income, expense, refunded, excluded_income,
                excluded_expense, flow_count, excluded_count, transferring_count,
                wallet_change, transfer_in, transfer_out,
                income_count, expense_count, transfer_count,
                pending_income_count, pending_expense_count, pending_transfer_count
            )
            SELECT entry.member_id, first_of_month, moved.wallet_id,
                CASE WHEN is_own AND counts_in_flows THEN new_income ELSE 0 END,
                CASE WHEN is_own AND counts_in_flows THEN new_expense ELSE 0 END,
                CASE WHEN is_own AND counts_in_flows THEN new_refunded ELSE 0 END,
                CASE WHEN is_own AND is_left_out THEN new_income ELSE 0 END,
                CASE WHEN is_own AND is_left_out THEN new_expense ELSE 0 END,
                CASE WHEN is_own AND counts_in_flows AND has_flow THEN sign ELSE 0 END,
                CASE WHEN is_own AND is_left_out AND has_flow THEN sign ELSE 0 END,
                CASE WHEN is_own AND counts_in_flows AND new_in + new_out <> 0
                    THEN sign ELSE 0 END,
                CASE WHEN entry.pending THEN 0 ELSE moved.change END,
                CASE WHEN counts_in_flows THEN moved.came_in ELSE 0 END,
                CASE WHEN counts_in_flows THEN moved.went_out ELSE 0 END,
                new_income_count, new_expense_count, new_transfer_count,
                new_pending_income_count, new_pending_expense_count,
                new_pending_transfer_count
            FROM (
                SELECT true AS is_own, coalesce(entry.wallet_id, 0) AS wallet_id,
                    new_change AS change, new_in AS came_in, new_out AS went_out
                UNION ALL
                SELECT false, wallet_id, -sign * direction * sum(amount),
                    sign * sum(greatest(-direction * amount, 0)),
                    sign * sum(greatest(direction * amount, 0))
                FROM account_entry_line
                WHERE member_id = entry.member_id AND entry_id = entry.id
                    AND entry.line_count > 0 AND wallet_id IS NOT NULL
                GROUP BY wallet_id
                UNION ALL
                SELECT false, entry.to_wallet_id, sign * entry.amount,
                    sign * entry.amount, 0
                WHERE entry.to_wallet_id IS NOT NULL
            ) moved, (
                SELECT has_income OR has_expense AS has_flow,
                    NOT entry.pending AND entry.excluded AS is_left_out
            ) kind
            ON CONFLICT (member_id, month, wallet_id) DO UPDATE
            SET income = stored.income + excluded.income,
                expense = stored.expense + excluded.expense,
                refunded = stored.refunded + excluded.refunded,
                excluded_income = stored.excluded_income + excluded.excluded_income,
                excluded_expense = stored.excluded_expense + excluded.excluded_expense,
                flow_count = stored.flow_count + excluded.flow_count,
                excluded_count = stored.excluded_count + excluded.excluded_count,
                transferring_count =
                    stored.transferring_count + excluded.transferring_count,
                wallet_change = stored.wallet_change + excluded.wallet_change,
                transfer_in = stored.transfer_in + excluded.transfer_in,
                transfer_out = stored.transfer_out + excluded.transfer_out,
                income_count = stored.income_count + excluded.income_count,
                expense_count = stored.expense_count + excluded.expense_count,
                transfer_count = stored.transfer_count + excluded.transfer_count,
                pending_income_count =
                    stored.pending_income_count + excluded.pending_income_count,
                pending_expense_count =
                    stored.pending_expense_count + excluded.pending_expense_count,
                pending_transfer_count =
                    stored.pending_transfer_count + excluded.pending_transfer_count;

            INSERT INTO account_wallet_total AS stored
                (member_id, wallet_id, balance, entry_count)
            SELECT entry.member_id, wallet_id,
                CASE WHEN entry.pending THEN 0 ELSE change END, sign
            FROM (
                SELECT entry.wallet_id, new_change AS change
                WHERE entry.wallet_id IS NOT NULL
                UNION ALL
                SELECT wallet_id, -sign * direction * sum(amount)
                FROM account_entry_line
                WHERE member_id = entry.member_id AND entry_id = entry.id
                    AND entry.line_count > 0 AND wallet_id IS NOT NULL
                GROUP BY wallet_id
                UNION ALL
                SELECT entry.to_wallet_id, sign * entry.amount
                WHERE entry.to_wallet_id IS NOT NULL
            ) moved
            ON CONFLICT (member_id, wallet_id) DO UPDATE
            SET balance = stored.balance + excluded.balance,
                entry_count = stored.entry_count + excluded.entry_count;

            INSERT INTO account_category_total AS stored (
                member_id, month, type, category_id, amount, refunded,
                entry_count, pending_count, excluded_count
            )
            SELECT entry.member_id, first_of_month, category_type,
                coalesce(category_id, 0),
                CASE WHEN counts_in_flows THEN sign * sum(flow) ELSE 0 END,
                CASE WHEN counts_in_flows AND category_type = 'expense'
                    THEN -sign * sum(least(flow, 0)) ELSE 0 END,
                CASE WHEN counts_in_flows THEN sign ELSE 0 END,
                CASE WHEN entry.pending THEN sign ELSE 0 END,
                CASE WHEN entry.excluded AND NOT entry.pending THEN sign ELSE 0 END
            FROM (
                SELECT category_id, category_type,
                    CASE WHEN (direction = 1) = (category_type = 'income')
                        THEN amount ELSE -amount END AS flow
                FROM account_entry_line
                WHERE member_id = entry.member_id AND entry_id = entry.id
                    AND entry.line_count > 0 AND wallet_id IS NULL
                UNION ALL
                SELECT entry.category_id, entry.category_type, new_income + new_expense
                WHERE entry.line_count = 0 AND entry.to_wallet_id IS NULL AND sign = 1
                UNION ALL
                SELECT entry.category_id, entry.category_type,
                    -(new_income + new_expense)
                WHERE entry.line_count = 0 AND entry.to_wallet_id IS NULL AND sign = -1
            ) line
            GROUP BY category_type, category_id
            ON CONFLICT (member_id, month, type, category_id) DO UPDATE
            SET amount = stored.amount + excluded.amount,
                refunded = stored.refunded + excluded.refunded,
                entry_count = stored.entry_count + excluded.entry_count,
                pending_count = stored.pending_count + excluded.pending_count,
                excluded_count = stored.excluded_count + excluded.excluded_count;
        END IF;

        -- A new entry gets its tags afterwards, a deleted one has lost them before.
        IF TG_OP = 'UPDATE' AND counts_in_flows THEN
            INSERT INTO account_tag_total AS stored
                (member_id, month, type, tag_id, amount, refunded, entry_count)
            SELECT link.member_id, first_of_month, flow.type, link.tag_id,
                flow.amount, flow.refunded, flow.entry_count
            FROM account_entry_tag link, (
                VALUES
                    ('income', new_income, 0::bigint, has_income,
                        CASE WHEN has_expense THEN 0 ELSE sign END),
                    ('expense', new_expense, new_refunded, has_expense, sign)
            ) flow (type, amount, refunded, is_given, entry_count)
            WHERE link.member_id = entry.member_id AND link.entry_id = entry.id
                AND flow.is_given
            ON CONFLICT (member_id, month, type, tag_id) DO UPDATE
            SET amount = stored.amount + excluded.amount,
                refunded = stored.refunded + excluded.refunded,
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
        OLD.wallet_id, OLD.to_wallet_id, OLD.line_count, OLD.memo, OLD.pending,
        OLD.excluded)
    IS DISTINCT FROM
    (NEW.date, NEW.type, NEW.category_type, NEW.amount, NEW.category_id,
        NEW.wallet_id, NEW.to_wallet_id, NEW.line_count, NEW.memo, NEW.pending,
        NEW.excluded)
    AND current_setting('ledger.is_bulk_write', true) IS DISTINCT FROM 'on'
)
EXECUTE FUNCTION account_entry_totals();

CREATE OR REPLACE FUNCTION account_entry_line_guard()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    line record := coalesce(NEW, OLD);
BEGIN
    PERFORM FROM account_entry
    WHERE member_id = line.member_id AND id = line.entry_id AND line_count IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'entry % is in the totals', line.entry_id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'account_entry_line_unbooked';
    END IF;
    RETURN line;
END
$$;

CREATE OR REPLACE TRIGGER account_entry_line_guard
BEFORE INSERT OR DELETE
    OR UPDATE OF member_id, entry_id, amount, category_id, category_type, wallet_id
ON account_entry_line
FOR EACH ROW
WHEN (current_setting('ledger.is_bulk_write', true) IS DISTINCT FROM 'on')
EXECUTE FUNCTION account_entry_line_guard();

-- migrate:down
DROP TRIGGER account_entry_line_guard ON account_entry_line;
DROP FUNCTION account_entry_line_guard();
DROP TRIGGER account_entry_totals ON account_entry;
DROP TRIGGER account_entry_totals_update ON account_entry;
DROP FUNCTION account_entry_totals();
