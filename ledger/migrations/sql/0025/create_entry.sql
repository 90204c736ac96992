-- Create an entry with its lines and tags in one round trip. Each statement of the function
-- sees everything that was committed before it, as if the service had sent them one by one.
--
-- `entry` has the columns of the new row by name; owner, category and number of lines are
-- set here. `lines` is NULL for a flat entry, else an array of objects with `amount`,
-- `category` (a name), `category_type`, `wallet` (an id), `memo` and `refund_of` (an id).
--
-- Returns NULL, and creates nothing, if a category, wallet or tag is unknown, or if the
-- client id of the entry is known.

-- migrate:up
CREATE OR REPLACE FUNCTION account_create_entry(
    owner bigint, ledger_lock int, ledger_key int,
    entry account_entry, category_name text, tag_names text[], lines jsonb
)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    new_category bigint;
    tag_ids bigint[];
    new_entry bigint;
BEGIN
    -- The lock of `ledger_write`: the rows found below stay until the end.
    PERFORM pg_advisory_xact_lock(ledger_lock, ledger_key);

    IF entry.client_id IS NOT NULL THEN
        PERFORM FROM account_entry
        WHERE member_id = owner AND client_id = entry.client_id
        UNION ALL
        SELECT FROM account_deleted_client_id
        WHERE member_id = owner AND client_id = entry.client_id;
        IF FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF category_name IS NOT NULL THEN
        SELECT id INTO new_category FROM account_category
        WHERE member_id = owner AND name = category_name
            AND type = CASE WHEN (entry.type = 'income') = entry.is_reversal
                THEN 'expense' ELSE 'income' END;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF entry.wallet_id IS NOT NULL THEN
        PERFORM FROM account WHERE member_id = owner AND id = entry.wallet_id;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF entry.to_wallet_id IS NOT NULL THEN
        PERFORM FROM account WHERE member_id = owner AND id = entry.to_wallet_id;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF lines IS NOT NULL THEN
        PERFORM FROM jsonb_to_recordset(lines)
            AS line (category text, category_type text, wallet bigint)
        WHERE line.category IS NOT NULL AND NOT EXISTS (
            SELECT FROM account_category
            WHERE member_id = owner AND name = line.category
                AND type = line.category_type
        ) OR line.wallet IS NOT NULL AND NOT EXISTS (
            SELECT FROM account WHERE member_id = owner AND id = line.wallet
        );
        IF FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    SELECT array_agg(tag.id ORDER BY given.position) INTO tag_ids
    FROM unnest(tag_names) WITH ORDINALITY AS given (name, position)
    JOIN account_tag tag ON tag.member_id = owner AND tag.name = given.name;
    IF coalesce(cardinality(tag_ids), 0) <> cardinality(tag_names) THEN
        RETURN NULL;
    END IF;

    INSERT INTO account_entry (
        member_id, category_id, line_count,
        date, type, is_reversal, amount, wallet_id, to_wallet_id, refund_of_id,
        excluded, time, source, memo, currency, original_amount, exchange_rate,
        installment_months, installment_parts, bill_month, pending, created_at,
        updated_at, client_id
    ) VALUES (
        owner, new_category, CASE WHEN lines IS NULL THEN 0 END,
        entry.date, entry.type, entry.is_reversal, entry.amount, entry.wallet_id,
        entry.to_wallet_id, entry.refund_of_id, entry.excluded, entry.time,
        entry.source, entry.memo, entry.currency, entry.original_amount,
        entry.exchange_rate, entry.installment_months, entry.installment_parts,
        entry.bill_month, entry.pending, entry.created_at, entry.updated_at,
        entry.client_id
    )
    RETURNING id INTO new_entry;
    IF lines IS NOT NULL THEN
        INSERT INTO account_entry_line (member_id, entry_id, position, amount,
            category_id, category_type, wallet_id, memo, refund_of_id)
        SELECT owner, new_entry, line.position - 1, line.amount,
            (
                SELECT id FROM account_category
                WHERE member_id = owner AND name = line.category
                    AND type = line.category_type
            ), line.category_type, line.wallet, line.memo, line.refund_of
        FROM ROWS FROM (
            jsonb_to_recordset(lines) AS (
                amount bigint, category text, category_type text, wallet bigint,
                memo text, refund_of bigint
            )
        ) WITH ORDINALITY
            AS line (amount, category, category_type, wallet, memo, refund_of, position);
        -- With its lines, the entry counts.
        UPDATE account_entry SET line_count = jsonb_array_length(lines)
        WHERE member_id = owner AND id = new_entry;
    END IF;
    INSERT INTO account_entry_tag (member_id, entry_id, tag_id, position)
    SELECT owner, new_entry, given.tag_id, given.position - 1
    FROM unnest(tag_ids) WITH ORDINALITY AS given (tag_id, position);
    RETURN new_entry;
END
$$;

-- migrate:down
DROP FUNCTION account_create_entry;
