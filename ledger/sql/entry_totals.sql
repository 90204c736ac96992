-- Keep the totals of entries: by member, month, day, wallet, category and memo.
--
-- Statement triggers, so that no way of writing entries can forget the totals, and so
-- that a statement changes each total once, whatever number of rows it writes.
--
-- Inserted and deleted rows go through one function, since both triggers call their
-- rows `changed_rows`: they count with sign 1 or -1. An update has old rows and new
-- ones and needs a text of its own.
--
-- Locks: each function takes the member's `account_ledger_total` first, and so do the
-- triggers of tags (tag_totals.sql). An entry is written before its tags and deleted
-- after them: without that row, two writers of one member could wait for each other's
-- totals.
--
-- Memos are compared in lower case and without blanks, the no-break space and the wide
-- blank of Korean and Japanese texts included. Categories are learned from them.
--
-- Hash and merge joins are off: one cached plan serves a single row as well as a whole
-- restore, so joins have to look up by key.

-- migrate:up
CREATE OR REPLACE FUNCTION account_entry_totals()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    sign constant int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    -- By member. First, for its lock.
    INSERT INTO account_ledger_total AS stored
        (member_id, entry_count, pending_count)
    SELECT member_id, sign * count(*), sign * count(*) FILTER (WHERE pending)
    FROM changed_rows
    GROUP BY member_id
    ORDER BY member_id
    ON CONFLICT (member_id)
    DO UPDATE SET entry_count = stored.entry_count + excluded.entry_count,
                  pending_count = stored.pending_count + excluded.pending_count;

    -- By month, day, wallet, and category with wallet.
    WITH changed AS MATERIALIZED (
        SELECT member_id, date, date - (extract(day FROM date)::int - 1) AS month,
               type, pending, category_id, wallet_id,
               sign * sum(amount) AS amount, sign * count(*) AS entry_count
        FROM changed_rows
        GROUP BY 1, 2, 3, 4, 5, 6, 7
    ), by_month AS (
        INSERT INTO account_month_total AS stored
            (member_id, month, type, pending, amount, entry_count)
        SELECT member_id, month, type, pending, sum(amount), sum(entry_count)
        FROM changed
        GROUP BY 1, 2, 3, 4
        ON CONFLICT (member_id, month, type, pending)
        DO UPDATE SET amount = stored.amount + excluded.amount,
                      entry_count = stored.entry_count + excluded.entry_count
    ), by_day AS (
        INSERT INTO account_day_total AS stored
            (member_id, date, type, pending, wallet_id, amount, entry_count)
        SELECT member_id, date, type, pending, wallet_id, sum(amount), sum(entry_count)
        FROM changed
        GROUP BY 1, 2, 3, 4, 5
        ON CONFLICT (member_id, date, type, pending, wallet_id)
        DO UPDATE SET amount = stored.amount + excluded.amount,
                      entry_count = stored.entry_count + excluded.entry_count
    ), by_wallet AS (
        INSERT INTO account_wallet_total AS stored
            (wallet_id, member_id, balance, entry_count)
        SELECT wallet_id, member_id,
               coalesce(
                   sum(CASE type WHEN 'income' THEN amount ELSE -amount END)
                       FILTER (WHERE NOT pending),
                   0
               ),
               sum(entry_count)
        FROM changed
        WHERE wallet_id IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (wallet_id)
        DO UPDATE SET balance = stored.balance + excluded.balance,
                      entry_count = stored.entry_count + excluded.entry_count
    )
    INSERT INTO account_entry_total AS stored
        (member_id, month, type, pending, category_id, wallet_id, amount, entry_count)
    SELECT member_id, month, type, pending, category_id, wallet_id,
           sum(amount), sum(entry_count)
    FROM changed
    GROUP BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (member_id, month, type, pending, category_id, wallet_id)
    DO UPDATE SET amount = stored.amount + excluded.amount,
                  entry_count = stored.entry_count + excluded.entry_count;

    -- By memo and category: confirmed entries that have both.
    INSERT INTO account_memo_total AS stored
        (member_id, type, memo, category_id, entry_count)
    SELECT member_id, type, memo, category_id, sign * count(*)
    FROM (
        SELECT member_id, type, category_id,
               translate(lower(memo), E' \t\n\u00a0\u3000', '') AS memo
        FROM changed_rows
        WHERE NOT pending AND category_id IS NOT NULL AND memo <> ''
    ) changed
    WHERE memo <> ''
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (member_id, type, memo, category_id)
    DO UPDATE SET entry_count = stored.entry_count + excluded.entry_count;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION account_entry_totals_update()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    -- By member. First, for its lock.
    INSERT INTO account_ledger_total AS stored
        (member_id, entry_count, pending_count)
    SELECT member_id, sum(sign), coalesce(sum(sign) FILTER (WHERE pending), 0)
    FROM (
        SELECT 1 AS sign, member_id, pending FROM new_rows
        UNION ALL
        SELECT -1, member_id, pending FROM old_rows
    ) changed
    GROUP BY member_id
    ORDER BY member_id
    ON CONFLICT (member_id)
    DO UPDATE SET entry_count = stored.entry_count + excluded.entry_count,
                  pending_count = stored.pending_count + excluded.pending_count;

    -- By month, day, wallet, and category with wallet. An update that leaves all of
    -- them and the amount as they were (a new memo) has no row in `changed`.
    WITH changed AS MATERIALIZED (
        SELECT member_id, date, date - (extract(day FROM date)::int - 1) AS month,
               type, pending, category_id, wallet_id,
               sum(sign * amount) AS amount, sum(sign) AS entry_count
        FROM (
            SELECT 1 AS sign, * FROM new_rows UNION ALL SELECT -1, * FROM old_rows
        ) signed
        GROUP BY 1, 2, 3, 4, 5, 6, 7
        HAVING sum(sign * amount) <> 0 OR sum(sign) <> 0
    ), by_month AS (
        INSERT INTO account_month_total AS stored
            (member_id, month, type, pending, amount, entry_count)
        SELECT member_id, month, type, pending, sum(amount), sum(entry_count)
        FROM changed
        GROUP BY 1, 2, 3, 4
        HAVING sum(amount) <> 0 OR sum(entry_count) <> 0
        ON CONFLICT (member_id, month, type, pending)
        DO UPDATE SET amount = stored.amount + excluded.amount,
                      entry_count = stored.entry_count + excluded.entry_count
    ), by_day AS (
        INSERT INTO account_day_total AS stored
            (member_id, date, type, pending, wallet_id, amount, entry_count)
        SELECT member_id, date, type, pending, wallet_id, sum(amount), sum(entry_count)
        FROM changed
        GROUP BY 1, 2, 3, 4, 5
        HAVING sum(amount) <> 0 OR sum(entry_count) <> 0
        ON CONFLICT (member_id, date, type, pending, wallet_id)
        DO UPDATE SET amount = stored.amount + excluded.amount,
                      entry_count = stored.entry_count + excluded.entry_count
    ), by_wallet AS (
        INSERT INTO account_wallet_total AS stored
            (wallet_id, member_id, balance, entry_count)
        SELECT wallet_id, member_id,
               coalesce(
                   sum(CASE type WHEN 'income' THEN amount ELSE -amount END)
                       FILTER (WHERE NOT pending),
                   0
               ),
               sum(entry_count)
        FROM changed
        WHERE wallet_id IS NOT NULL
        GROUP BY 1, 2
        ON CONFLICT (wallet_id)
        DO UPDATE SET balance = stored.balance + excluded.balance,
                      entry_count = stored.entry_count + excluded.entry_count
    )
    INSERT INTO account_entry_total AS stored
        (member_id, month, type, pending, category_id, wallet_id, amount, entry_count)
    SELECT member_id, month, type, pending, category_id, wallet_id,
           sum(amount), sum(entry_count)
    FROM changed
    GROUP BY 1, 2, 3, 4, 5, 6
    HAVING sum(amount) <> 0 OR sum(entry_count) <> 0
    ON CONFLICT (member_id, month, type, pending, category_id, wallet_id)
    DO UPDATE SET amount = stored.amount + excluded.amount,
                  entry_count = stored.entry_count + excluded.entry_count;

    -- By memo and category: confirmed entries that have both.
    INSERT INTO account_memo_total AS stored
        (member_id, type, memo, category_id, entry_count)
    SELECT member_id, type, memo, category_id, sum(sign)
    FROM (
        SELECT sign, member_id, type, category_id,
               translate(lower(memo), E' \t\n\u00a0\u3000', '') AS memo
        FROM (
            SELECT 1 AS sign, * FROM new_rows UNION ALL SELECT -1, * FROM old_rows
        ) signed
        WHERE NOT pending AND category_id IS NOT NULL AND memo <> ''
    ) changed
    WHERE memo <> ''
    GROUP BY 1, 2, 3, 4
    HAVING sum(sign) <> 0
    ON CONFLICT (member_id, type, memo, category_id)
    DO UPDATE SET entry_count = stored.entry_count + excluded.entry_count;

    -- By tag: an updated entry has its tags on. (A new one gets them afterwards, and a
    -- deleted one has lost them before: see below.)
    INSERT INTO account_tag_total AS stored
        (member_id, month, tag_id, type, amount, entry_count)
    SELECT changed.member_id, date - (extract(day FROM date)::int - 1),
           link.tag_id, changed.type, sum(sign * changed.amount), sum(sign)
    FROM (
        SELECT 1 AS sign, * FROM new_rows UNION ALL SELECT -1, * FROM old_rows
    ) changed
    JOIN account_entry_tag link ON link.entry_id = changed.id
    JOIN account_tag tag ON tag.id = link.tag_id
    WHERE NOT changed.pending
    GROUP BY 1, 2, 3, 4
    HAVING sum(sign * changed.amount) <> 0 OR sum(sign) <> 0
    ON CONFLICT (member_id, month, tag_id, type)
    DO UPDATE SET amount = stored.amount + excluded.amount,
                  entry_count = stored.entry_count + excluded.entry_count;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER account_entry_totals_insert
AFTER INSERT ON account_entry
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_totals();

CREATE OR REPLACE TRIGGER account_entry_totals_delete
AFTER DELETE ON account_entry
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_totals();

CREATE OR REPLACE TRIGGER account_entry_totals_update
AFTER UPDATE ON account_entry
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_totals_update();

-- migrate:down
DROP TRIGGER account_entry_totals_insert ON account_entry;
DROP TRIGGER account_entry_totals_delete ON account_entry;
DROP TRIGGER account_entry_totals_update ON account_entry;
DROP FUNCTION account_entry_totals();
DROP FUNCTION account_entry_totals_update();
