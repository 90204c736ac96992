-- Keep what is held of each stock: quantity, number of trades, and a version.
--
-- Statement triggers, so that no way of writing trades can forget the position. The
-- version grows with every write: cost and realized gain, which a replay of the trades
-- finds, hold as long as it is the same. Rows are written in the order of stocks, so
-- that two statements cannot deadlock. A stock that is deleted together with its trades
-- has no position any more, hence the joins with the table of stocks.

-- migrate:up
CREATE OR REPLACE FUNCTION invest_trade_positions()
RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign constant int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    INSERT INTO invest_position AS stored
        (stock_id, member_id, quantity, trade_count, version)
    SELECT changed.stock_id, changed.member_id,
           sign * sum(CASE side WHEN 'BUY' THEN quantity ELSE -quantity END),
           sign * count(*), 1
    FROM changed_rows changed
    JOIN invest_stock stock ON stock.id = changed.stock_id
    GROUP BY 1, 2
    ORDER BY 1
    ON CONFLICT (stock_id)
    DO UPDATE SET quantity = stored.quantity + excluded.quantity,
                  trade_count = stored.trade_count + excluded.trade_count,
                  version = stored.version + 1;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION invest_trade_positions_update()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO invest_position AS stored
        (stock_id, member_id, quantity, trade_count, version)
    SELECT changed.stock_id, changed.member_id,
           sum(sign * CASE side WHEN 'BUY' THEN quantity ELSE -quantity END),
           sum(sign), 1
    FROM (
        SELECT 1 AS sign, * FROM new_rows UNION ALL SELECT -1, * FROM old_rows
    ) changed
    JOIN invest_stock stock ON stock.id = changed.stock_id
    GROUP BY 1, 2
    ORDER BY 1
    ON CONFLICT (stock_id)
    DO UPDATE SET quantity = stored.quantity + excluded.quantity,
                  trade_count = stored.trade_count + excluded.trade_count,
                  version = stored.version + 1;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER invest_trade_positions_insert
AFTER INSERT ON invest_trade
REFERENCING NEW TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION invest_trade_positions();

CREATE OR REPLACE TRIGGER invest_trade_positions_delete
AFTER DELETE ON invest_trade
REFERENCING OLD TABLE AS changed_rows
FOR EACH STATEMENT EXECUTE FUNCTION invest_trade_positions();

CREATE OR REPLACE TRIGGER invest_trade_positions_update
AFTER UPDATE ON invest_trade
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION invest_trade_positions_update();

-- migrate:down
DROP TRIGGER invest_trade_positions_insert ON invest_trade;
DROP TRIGGER invest_trade_positions_delete ON invest_trade;
DROP TRIGGER invest_trade_positions_update ON invest_trade;
DROP FUNCTION invest_trade_positions();
DROP FUNCTION invest_trade_positions_update();
