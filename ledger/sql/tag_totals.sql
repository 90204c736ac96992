-- Keep the totals of tags by month, when tags are put on entries and taken off.
--
-- (What changes an entry that has its tags on is in entry_totals.sql.)
--
-- The link of a tag never outlives its entry: who deletes entries deletes their links
-- first, while the entries still tell the amounts. That foreign key does not cascade.
-- A tag that is deleted together with its links has no totals any more, hence the joins
-- with the table of tags.
--
-- Locks: the member's `account_ledger_total` first, see entry_totals.sql, which also
-- says why hash and merge joins are off.

-- migrate:up
CREATE OR REPLACE FUNCTION account_entry_tag_totals()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    sign constant int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    PERFORM FROM account_ledger_total
    WHERE member_id IN (SELECT member_id FROM changed_rows)
    ORDER BY member_id
    FOR NO KEY UPDATE;

    INSERT INTO account_tag_total AS stored
        (member_id, month, tag_id, type, amount, entry_count)
    SELECT entry.member_id, date - (extract(day FROM date)::int - 1),
           changed.tag_id, entry.type, sign * sum(entry.amount), sign * count(*)
    FROM changed_rows changed
    JOIN account_entry entry ON entry.id = changed.entry_id
    JOIN account_tag tag ON tag.id = changed.tag_id
    WHERE NOT entry.pending
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (member_id, month, tag_id, type)
    DO UPDATE SET amount = stored.amount + excluded.amount,
                  entry_count = stored.entry_count + excluded.entry_count;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION account_entry_tag_totals_update()
RETURNS trigger LANGUAGE plpgsql
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM account_ledger_total
    WHERE member_id IN (
        SELECT member_id FROM new_rows UNION ALL SELECT member_id FROM old_rows
    )
    ORDER BY member_id
    FOR NO KEY UPDATE;

    INSERT INTO account_tag_total AS stored
        (member_id, month, tag_id, type, amount, entry_count)
    SELECT entry.member_id, date - (extract(day FROM date)::int - 1),
           changed.tag_id, entry.type, sum(sign * entry.amount), sum(sign)
    FROM (
        SELECT 1 AS sign, entry_id, tag_id FROM new_rows
        UNION ALL
        SELECT -1, entry_id, tag_id FROM old_rows
    ) changed
    JOIN account_entry entry ON entry.id = changed.entry_id
    JOIN account_tag tag ON tag.id = changed.tag_id
    WHERE NOT entry.pending
    GROUP BY 1, 2, 3, 4
    HAVING sum(sign * entry.amount) <> 0 OR sum(sign) <> 0
    ON CONFLICT (member_id, month, tag_id, type)
    DO UPDATE SET amount = stored.amount + excluded.amount,
                  entry_count = stored.entry_count + excluded.entry_count;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER account_entry_tag_totals_insert
AFTER INSERT ON account_entry_tag
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_tag_totals();

CREATE OR REPLACE TRIGGER account_entry_tag_totals_delete
AFTER DELETE ON account_entry_tag
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_tag_totals();

CREATE OR REPLACE TRIGGER account_entry_tag_totals_update
AFTER UPDATE ON account_entry_tag
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION account_entry_tag_totals_update();

-- migrate:down
DROP TRIGGER account_entry_tag_totals_insert ON account_entry_tag;
DROP TRIGGER account_entry_tag_totals_delete ON account_entry_tag;
DROP TRIGGER account_entry_tag_totals_update ON account_entry_tag;
DROP FUNCTION account_entry_tag_totals();
DROP FUNCTION account_entry_tag_totals_update();
