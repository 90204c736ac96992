-- Create an entry with its lines and tags in one round trip. Each statement of the function
-- sees what was committed before it, as if the service had sent them one by one.
--
-- `new_lines` is NULL for a flat entry, else an array of objects with `amount`, `category`
-- (a name), `category_type`, `wallet` (an id) and `memo`.
--
-- Returns NULL, and creates nothing, if a name is unknown, or if what it names is moving.

-- migrate:up
CREATE OR REPLACE FUNCTION account_create_entry(
    owner bigint, ledger_lock int, ledger_key int,
    new_date date, new_type text, new_amount bigint, category_name text,
    new_wallet bigint, new_memo text, tag_names text[],
    new_currency text, new_original numeric, new_rate numeric,
    new_installments smallint, new_pending boolean, written_at timestamptz,
    new_to_wallet bigint, new_is_reversal boolean, new_refund_of bigint,
    new_excluded boolean, new_time time, new_source text, new_lines jsonb
)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    new_category bigint;
    tag_ids bigint[];
    new_entry bigint;
BEGIN
    -- As `ledger.locking.lock_ledger`: what is found below stays until the end.
    PERFORM pg_advisory_xact_lock(ledger_lock, ledger_key);

    IF category_name IS NOT NULL THEN
        SELECT id INTO new_category FROM account_category
        WHERE member_id = owner AND name = category_name
            AND type = CASE WHEN (new_type = 'income') = new_is_reversal
                THEN 'expense' ELSE 'income' END
            AND moving_to_id IS NULL;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF new_wallet IS NOT NULL THEN
        PERFORM FROM account
        WHERE member_id = owner AND id = new_wallet AND moving_to_id IS NULL;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF new_to_wallet IS NOT NULL THEN
        PERFORM FROM account
        WHERE member_id = owner AND id = new_to_wallet AND moving_to_id IS NULL;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
    END IF;
    IF new_lines IS NOT NULL THEN
        PERFORM FROM jsonb_to_recordset(new_lines)
            AS line (category text, category_type text, wallet bigint)
        WHERE line.category IS NOT NULL AND NOT EXISTS (
            SELECT FROM account_category
            WHERE member_id = owner AND name = line.category
                AND type = line.category_type AND moving_to_id IS NULL
        ) OR line.wallet IS NOT NULL AND NOT EXISTS (
            SELECT FROM account
            WHERE member_id = owner AND id = line.wallet AND moving_to_id IS NULL
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
        member_id, date, type, amount, category_id, wallet_id, memo,
        currency, original_amount, exchange_rate, installment_months, pending,
        created_at, updated_at, to_wallet_id, is_reversal, refund_of_id, excluded,
        time, source, line_count
    ) VALUES (
        owner, new_date, new_type, new_amount, new_category, new_wallet, new_memo,
        new_currency, new_original, new_rate, new_installments, new_pending,
        written_at, written_at, new_to_wallet, new_is_reversal, new_refund_of, new_excluded,
        new_time, new_source, CASE WHEN new_lines IS NULL THEN 0 END
    )
    RETURNING id INTO new_entry;
    IF new_lines IS NOT NULL THEN
        INSERT INTO account_entry_line (member_id, entry_id, position, amount,
            category_id, category_type, wallet_id, memo)
        SELECT owner, new_entry, line.position - 1, line.amount,
            (
                SELECT id FROM account_category
                WHERE member_id = owner AND name = line.category
                    AND type = line.category_type
            ), line.category_type, line.wallet, line.memo
        FROM ROWS FROM (
            jsonb_to_recordset(new_lines) AS (
                amount bigint, category text, category_type text, wallet bigint,
                memo text
            )
        ) WITH ORDINALITY
            AS line (amount, category, category_type, wallet, memo, position);
        -- With its lines, the entry counts.
        UPDATE account_entry SET line_count = jsonb_array_length(new_lines)
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
