-- Create a flat entry and its tags in one round trip. Each statement of the function sees
-- what was committed before it, as if the service had sent them one by one.
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
    new_excluded boolean, new_time time, new_source text
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
        time, source
    ) VALUES (
        owner, new_date, new_type, new_amount, new_category, new_wallet, new_memo,
        new_currency, new_original, new_rate, new_installments, new_pending,
        written_at, written_at, new_to_wallet, new_is_reversal, new_refund_of, new_excluded,
        new_time, new_source
    )
    RETURNING id INTO new_entry;
    INSERT INTO account_entry_tag (member_id, entry_id, tag_id, position)
    SELECT owner, new_entry, given.tag_id, given.position - 1
    FROM unnest(tag_ids) WITH ORDINALITY AS given (tag_id, position);
    RETURN new_entry;
END
$$;

-- migrate:down
DROP FUNCTION account_create_entry;
