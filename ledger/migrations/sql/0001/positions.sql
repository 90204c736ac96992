-- Keep what is held of each stock: quantity, number of trades, and a version.
--
-- Row triggers, so that no way of writing trades can forget the position (see
-- entry_totals.sql). The version grows with every write: cost and realized gain, which a
-- replay of the trades finds, hold as long as it is the same. A stock that is deleted
-- together with its trades has no position any more: only a new trade creates one.

-- migrate:up
CREATE OR REPLACE FUNCTION invest_trade_positions()
RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE invest_position
        SET quantity = quantity
                - CASE WHEN OLD.side = 'BUY' THEN OLD.quantity ELSE -OLD.quantity END,
            trade_count = trade_count - 1,
            version = version + 1
        WHERE member_id = OLD.member_id AND stock_id = OLD.stock_id;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        INSERT INTO invest_position AS stored
            (member_id, stock_id, quantity, trade_count, version)
        VALUES (
            NEW.member_id, NEW.stock_id,
            CASE WHEN NEW.side = 'BUY' THEN NEW.quantity ELSE -NEW.quantity END, 1, 1
        )
        ON CONFLICT (member_id, stock_id) DO UPDATE
        SET quantity = stored.quantity + excluded.quantity,
            trade_count = stored.trade_count + 1,
            version = stored.version + 1;
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER invest_trade_positions
AFTER INSERT OR UPDATE OR DELETE ON invest_trade
FOR EACH ROW EXECUTE FUNCTION invest_trade_positions();

-- migrate:down
DROP TRIGGER invest_trade_positions ON invest_trade;
DROP FUNCTION invest_trade_positions();
