-- Keep what a recorded operation changes, so that it can be undone (spec 3.27).
--
-- `ledger.records` is on while an operation is recorded. Row triggers keep each row as it
-- was before its first change, with its parts: lines, tags, the halves of a merged
-- transfer. So no way of writing can forget a row. The number of the operation is the
-- revision of the transaction, as in versions.sql.

-- migrate:up
CREATE OR REPLACE FUNCTION account_draw_revision(owner bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    given constant text := current_setting('ledger.revision', true);
    ledger constant text := owner || ':';
    new_revision bigint;
BEGIN
    IF starts_with(given, ledger) THEN
        RETURN substr(given, length(ledger) + 1);
    END IF;
    UPDATE account_ledger SET revision = revision + 1 WHERE member_id = owner
    RETURNING revision INTO new_revision;
    PERFORM set_config('ledger.revision', ledger || new_revision, true);
    RETURN new_revision;
END
$$;

-- Return entries with their parts, as many at once; null values are left out. Citus plans
-- functions that read only in PL/pgSQL, and updates only with functions that are STABLE.
CREATE OR REPLACE FUNCTION account_entry_snapshots(owner bigint, ids bigint[])
RETURNS TABLE (id bigint, before jsonb) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    WITH line AS (
        SELECT l.entry_id, jsonb_agg(to_jsonb(l)) AS rows FROM account_entry_line l
        WHERE l.member_id = owner AND l.entry_id = ANY(ids) GROUP BY 1
    ), tag AS (
        SELECT t.entry_id, jsonb_agg(to_jsonb(t)) AS rows FROM account_entry_tag t
        WHERE t.member_id = owner AND t.entry_id = ANY(ids) GROUP BY 1
    ), merged AS (
        SELECT m.entry_id, jsonb_agg(to_jsonb(m)) AS rows FROM account_merged_entry m
        WHERE m.member_id = owner AND m.entry_id = ANY(ids) GROUP BY 1
    )
    SELECT e.id, jsonb_strip_nulls(jsonb_build_object(
        'row', to_jsonb(e), 'lines', line.rows, 'tags', tag.rows, 'merged', merged.rows
    ))
    FROM account_entry e
    LEFT JOIN line ON line.entry_id = e.id
    LEFT JOIN tag ON tag.entry_id = e.id
    LEFT JOIN merged ON merged.entry_id = e.id
    WHERE e.member_id = owner AND e.id = ANY(ids);
END
$$;

-- Return a row with its parts; null values are left out.
CREATE OR REPLACE FUNCTION account_snapshot(
    owner bigint, row_kind text, stored_id bigint, stored jsonb
)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    parts jsonb := '{}';
BEGIN
    IF row_kind = 'entry' THEN
        SELECT entry.before INTO parts
        FROM account_entry_snapshots(owner, ARRAY[stored_id]) entry;
        RETURN parts;
    ELSIF row_kind = 'quickEntry' THEN
        SELECT jsonb_build_object(
            'lines', (
                SELECT jsonb_agg(to_jsonb(l)) FROM account_quick_entry_line l
                WHERE l.member_id = owner AND l.quick_entry_id = stored_id
            ),
            'tags', (
                SELECT jsonb_agg(to_jsonb(t)) FROM account_quick_entry_tag t
                WHERE t.member_id = owner AND t.quick_entry_id = stored_id
            )
        ) INTO parts;
    ELSIF row_kind = 'recurring' THEN
        SELECT jsonb_build_object(
            'lines', (
                SELECT jsonb_agg(to_jsonb(l)) FROM account_recurring_line l
                WHERE l.member_id = owner AND l.rule_id = stored_id
            ),
            'tags', (
                SELECT jsonb_agg(to_jsonb(t)) FROM account_recurring_tag t
                WHERE t.member_id = owner AND t.rule_id = stored_id
            )
        ) INTO parts;
    END IF;
    RETURN jsonb_strip_nulls(parts || jsonb_build_object('row', stored));
END
$$;

-- Return what goes with a row that is deleted, and stays with one that is changed.
CREATE OR REPLACE FUNCTION account_lost_parts(
    owner bigint, row_kind text, stored_id bigint
)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    parts jsonb := '{}';
BEGIN
    IF row_kind = 'entry' THEN
        SELECT jsonb_build_object(
            'dismissed', (
                SELECT jsonb_agg(to_jsonb(d)) FROM account_dismissed_transfer d
                WHERE d.member_id = owner
                    AND (d.expense_id = stored_id OR d.income_id = stored_id)
            )
        ) INTO parts;
    ELSIF row_kind = 'recurring' THEN
        SELECT jsonb_build_object(
            'occurrences', (
                SELECT jsonb_agg(to_jsonb(o)) FROM account_recurring_occurrence o
                WHERE o.member_id = owner AND o.rule_id = stored_id
            )
        ) INTO parts;
    ELSIF row_kind = 'wallet' THEN
        SELECT jsonb_build_object(
            'cardPayments', (
                SELECT jsonb_agg(to_jsonb(p)) FROM account_card_payment p
                WHERE p.member_id = owner AND p.wallet_id = stored_id
            )
        ) INTO parts;
    ELSIF row_kind = 'tag' THEN
        -- The rows that lose the tag.
        SELECT jsonb_build_object(
            'entryLinks', (
                SELECT jsonb_agg(to_jsonb(t)) FROM account_entry_tag t
                WHERE t.member_id = owner AND t.tag_id = stored_id
            ),
            'quickEntryLinks', (
                SELECT jsonb_agg(to_jsonb(t)) FROM account_quick_entry_tag t
                WHERE t.member_id = owner AND t.tag_id = stored_id
            ),
            'ruleLinks', (
                SELECT jsonb_agg(to_jsonb(t)) FROM account_recurring_tag t
                WHERE t.member_id = owner AND t.tag_id = stored_id
            )
        ) INTO parts;
    END IF;
    RETURN jsonb_strip_nulls(parts);
END
$$;

CREATE OR REPLACE FUNCTION account_keep_row(
    owner bigint, row_kind text, stored_id bigint, stored jsonb, is_deleted boolean
)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    operation constant bigint := account_draw_revision(owner);
    known text;
BEGIN
    SELECT action INTO known FROM account_operation_row
    WHERE member_id = owner AND operation_id = operation
        AND kind = row_kind AND row_id = stored_id;
    IF NOT FOUND THEN
        INSERT INTO account_operation_row
            (member_id, operation_id, kind, row_id, action, before)
        VALUES (
            owner, operation, row_kind, stored_id,
            CASE WHEN is_deleted THEN 'deleted' ELSE 'changed' END,
            account_snapshot(owner, row_kind, stored_id, stored)
                || CASE WHEN is_deleted
                    THEN account_lost_parts(owner, row_kind, stored_id) ELSE '{}' END
        );
    ELSIF is_deleted AND known = 'created' THEN
        DELETE FROM account_operation_row
        WHERE member_id = owner AND operation_id = operation
            AND kind = row_kind AND row_id = stored_id;
    ELSIF is_deleted THEN
        UPDATE account_operation_row
        SET action = 'deleted',
            before = before || account_lost_parts(owner, row_kind, stored_id)
        WHERE member_id = owner AND operation_id = operation
            AND kind = row_kind AND row_id = stored_id;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION account_record_change()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_keep_row(
        OLD.member_id, TG_ARGV[0], OLD.id, to_jsonb(OLD), TG_OP = 'DELETE'
    );
    RETURN coalesce(NEW, OLD);
END
$$;

-- After the insert: one that becomes an update of a known row created nothing.
CREATE OR REPLACE FUNCTION account_record_creation()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_operation_row (member_id, operation_id, kind, row_id, action)
    VALUES (
        NEW.member_id, account_draw_revision(NEW.member_id), TG_ARGV[0], NEW.id,
        'created'
    )
    ON CONFLICT (member_id, operation_id, kind, row_id) DO UPDATE
    SET action = 'changed';
    RETURN NULL;
END
$$;

-- A change of a part is one of its row, which is kept before its parts change.
CREATE OR REPLACE FUNCTION account_record_part()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    part record := coalesce(OLD, NEW);
    stored_id bigint;
    stored jsonb;
BEGIN
    IF TG_ARGV[0] = 'entry' THEN
        stored_id := part.entry_id;
        SELECT to_jsonb(r) INTO stored FROM account_entry r
        WHERE r.member_id = part.member_id AND r.id = part.entry_id;
    ELSIF TG_ARGV[0] = 'quickEntry' THEN
        stored_id := part.quick_entry_id;
        SELECT to_jsonb(r) INTO stored FROM account_quick_entry r
        WHERE r.member_id = part.member_id AND r.id = part.quick_entry_id;
    ELSE
        stored_id := part.rule_id;
        SELECT to_jsonb(r) INTO stored FROM account_recurring r
        WHERE r.member_id = part.member_id AND r.id = part.rule_id;
    END IF;
    IF stored IS NOT NULL THEN
        PERFORM account_keep_row(
            part.member_id, TG_ARGV[0], stored_id, stored, false
        );
    END IF;
    RETURN coalesce(NEW, OLD);
END
$$;

-- In the order of the writers, so that none of them is in a deadlock with this.
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_category
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('category');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_category
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('category');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('wallet');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('wallet');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_tag
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('tag');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_tag
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('tag');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_quick_entry
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('quickEntry');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_quick_entry
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('quickEntry');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_recurring
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('recurring');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_recurring
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('recurring');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON invest_stock
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('stock');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON invest_stock
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('stock');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON invest_trade
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('trade');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON invest_trade
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('trade');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_budget
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('budget');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_budget
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('budget');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_budget_income
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('budgetIncome');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_budget_income
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('budgetIncome');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_valuation
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('valuation');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_valuation
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('valuation');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_card
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('card');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_card
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('card');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_card_bill
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('bill');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_card_bill
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('bill');
CREATE OR REPLACE TRIGGER account_record_change BEFORE UPDATE OR DELETE ON account_entry
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_change('entry');
CREATE OR REPLACE TRIGGER account_record_creation AFTER INSERT ON account_entry
FOR EACH ROW WHEN (current_setting('ledger.records', true) = 'on')
EXECUTE FUNCTION account_record_creation('entry');

-- Not where a part goes with its row or tag, which is kept as a whole.
CREATE OR REPLACE TRIGGER account_record_part BEFORE INSERT OR UPDATE OR DELETE
ON account_quick_entry_line FOR EACH ROW
WHEN (current_setting('ledger.records', true) = 'on' AND pg_trigger_depth() = 0)
EXECUTE FUNCTION account_record_part('quickEntry');
CREATE OR REPLACE TRIGGER account_record_part BEFORE INSERT OR UPDATE OR DELETE
ON account_quick_entry_tag FOR EACH ROW
WHEN (current_setting('ledger.records', true) = 'on' AND pg_trigger_depth() = 0)
EXECUTE FUNCTION account_record_part('quickEntry');
CREATE OR REPLACE TRIGGER account_record_part BEFORE INSERT OR UPDATE OR DELETE
ON account_recurring_line FOR EACH ROW
WHEN (current_setting('ledger.records', true) = 'on' AND pg_trigger_depth() = 0)
EXECUTE FUNCTION account_record_part('recurring');
CREATE OR REPLACE TRIGGER account_record_part BEFORE INSERT OR UPDATE OR DELETE
ON account_recurring_tag FOR EACH ROW
WHEN (current_setting('ledger.records', true) = 'on' AND pg_trigger_depth() = 0)
EXECUTE FUNCTION account_record_part('recurring');
CREATE OR REPLACE TRIGGER account_record_part BEFORE INSERT OR UPDATE OR DELETE
ON account_merged_entry FOR EACH ROW
WHEN (current_setting('ledger.records', true) = 'on' AND pg_trigger_depth() = 0)
EXECUTE FUNCTION account_record_part('entry');
CREATE OR REPLACE TRIGGER account_record_part BEFORE INSERT OR UPDATE OR DELETE
ON account_entry_line FOR EACH ROW
WHEN (current_setting('ledger.records', true) = 'on' AND pg_trigger_depth() = 0)
EXECUTE FUNCTION account_record_part('entry');
CREATE OR REPLACE TRIGGER account_record_part BEFORE INSERT OR UPDATE OR DELETE
ON account_entry_tag FOR EACH ROW
WHEN (current_setting('ledger.records', true) = 'on' AND pg_trigger_depth() = 0)
EXECUTE FUNCTION account_record_part('entry');

CREATE OR REPLACE FUNCTION account_record_notification()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_keep_row(
        OLD.member_id, 'notification', OLD.id,
        jsonb_build_object('entry_id', OLD.entry_id), false
    );
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER account_record_notification
BEFORE UPDATE OF entry_id ON account_notification FOR EACH ROW
WHEN (
    OLD.entry_id IS DISTINCT FROM NEW.entry_id
    AND current_setting('ledger.records', true) = 'on'
)
EXECUTE FUNCTION account_record_notification();

-- migrate:down
DROP TRIGGER account_record_change ON account_category;
DROP TRIGGER account_record_creation ON account_category;
DROP TRIGGER account_record_change ON account;
DROP TRIGGER account_record_creation ON account;
DROP TRIGGER account_record_change ON account_tag;
DROP TRIGGER account_record_creation ON account_tag;
DROP TRIGGER account_record_change ON account_quick_entry;
DROP TRIGGER account_record_creation ON account_quick_entry;
DROP TRIGGER account_record_change ON account_recurring;
DROP TRIGGER account_record_creation ON account_recurring;
DROP TRIGGER account_record_change ON invest_stock;
DROP TRIGGER account_record_creation ON invest_stock;
DROP TRIGGER account_record_change ON invest_trade;
DROP TRIGGER account_record_creation ON invest_trade;
DROP TRIGGER account_record_change ON account_budget;
DROP TRIGGER account_record_creation ON account_budget;
DROP TRIGGER account_record_change ON account_budget_income;
DROP TRIGGER account_record_creation ON account_budget_income;
DROP TRIGGER account_record_change ON account_valuation;
DROP TRIGGER account_record_creation ON account_valuation;
DROP TRIGGER account_record_change ON account_card;
DROP TRIGGER account_record_creation ON account_card;
DROP TRIGGER account_record_change ON account_card_bill;
DROP TRIGGER account_record_creation ON account_card_bill;
DROP TRIGGER account_record_change ON account_entry;
DROP TRIGGER account_record_creation ON account_entry;
DROP TRIGGER account_record_part ON account_quick_entry_line;
DROP TRIGGER account_record_part ON account_quick_entry_tag;
DROP TRIGGER account_record_part ON account_recurring_line;
DROP TRIGGER account_record_part ON account_recurring_tag;
DROP TRIGGER account_record_part ON account_merged_entry;
DROP TRIGGER account_record_part ON account_entry_line;
DROP TRIGGER account_record_part ON account_entry_tag;
DROP TRIGGER account_record_notification ON account_notification;
DROP FUNCTION account_record_change();
DROP FUNCTION account_record_creation();
DROP FUNCTION account_record_part();
DROP FUNCTION account_record_notification();
DROP FUNCTION account_keep_row(bigint, text, bigint, jsonb, boolean);
DROP FUNCTION account_snapshot(bigint, text, bigint, jsonb);
DROP FUNCTION account_entry_snapshots(bigint, bigint[]);
DROP FUNCTION account_lost_parts(bigint, text, bigint);
DROP FUNCTION account_draw_revision(bigint);
