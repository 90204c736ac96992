-- Suggest the category of a merchant from the member's own entries (spec 4.8), see
-- ledger/notifications/category_suggestion.py.
--
-- The rollup by memo has far fewer rows than entries. The memos that the merchant
-- contains are looked up in its index; one condition for both directions would compare
-- every memo with every part of the merchant. The entries themselves are read only on a
-- tie: the lateral join has a false condition otherwise.
--
-- Planned once for a connection: with the values known, PostgreSQL expects so much less
-- work that it plans each time anew, which takes far longer than the query. Whatever the
-- values, the plan is the one that reads the member's rows of the type.

-- migrate:up
CREATE OR REPLACE FUNCTION account_suggest_category(
    owner bigint, entry_type text, containing text, contained text[], blanks text
)
RETURNS text LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN (
        WITH matches AS MATERIALIZED (
            SELECT category_id, sum(entry_count) AS uses FROM (
                SELECT t.category_id, t.entry_count FROM account_memo_total t
                WHERE t.member_id = owner AND t.type = entry_type
                    AND t.memo LIKE containing
                UNION ALL
                SELECT t.category_id, t.entry_count FROM account_memo_total t
                WHERE t.member_id = owner AND t.type = entry_type
                    AND t.memo = ANY(contained) AND t.memo NOT LIKE containing
            ) AS alike
            WHERE entry_count > 0
            GROUP BY category_id
        ), most AS MATERIALIZED (
            SELECT category_id FROM matches
            WHERE uses = (SELECT max(uses) FROM matches)
        )
        SELECT c.name FROM most JOIN account_category c
            ON c.member_id = owner AND c.id = most.category_id
        LEFT JOIN LATERAL (
            SELECT e.date, e.id FROM account_entry e
            WHERE e.member_id = owner AND e.category_id = c.id
                AND NOT e.pending AND NOT e.excluded AND NOT e.is_reversal
                AND (translate(lower(e.memo), blanks, '') LIKE containing
                    OR translate(lower(e.memo), blanks, '') = ANY(contained))
            ORDER BY e.date DESC, e.id DESC LIMIT 1
        ) newest ON (SELECT count(*) FROM most) > 1
        ORDER BY newest.date DESC NULLS LAST, newest.id DESC
        LIMIT 1
    );
END
$$;

-- migrate:down
DROP FUNCTION account_suggest_category;
