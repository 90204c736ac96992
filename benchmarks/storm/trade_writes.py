"""Writes of the storm to stocks and trades."""

from dataclasses import dataclass
from decimal import Decimal

from benchmarks.storm.ledger import (
    NEW,
    Trade,
)
from benchmarks.storm.ledger_session import (
    MAX_ROWS,
    ROOT,
    LedgerSession,
    Write,
)


@dataclass
class TradeWrites(LedgerSession):
    """Writes to stocks and trades."""

    def create_stock(self) -> Write | None:
        if len(self.ledger.stocks) >= MAX_ROWS:
            return None
        code = self.make_name("S")
        after = self.ledger.put("stocks", code, NEW)
        path, body = f"{ROOT}/stocks", {"code": code, "name": code}
        return Write("POST", path, body, 201, after, created=("stocks", code))

    def make_trade(self) -> Trade | None:
        stock = self.pick(self.ledger.stocks)
        return stock and Trade(
            stock,
            self.chance.choice(["BUY", "BUY", "SELL"]),
            self.pick_day(),
            Decimal(self.chance.randint(1, 5_000)) / 1_000,
            self.chance.randint(0, 99_999),
        )

    def write_trade(self, method: str, trade_id: int, trade: Trade) -> Write:
        """Return a write, which is refused where more would be sold than is held."""
        stock_id = self.ledger.stocks[trade.stock]
        body = {"stockId": stock_id, "side": trade.side, "date": trade.date}
        body |= {"quantity": str(trade.quantity), "price": trade.price}
        path = f"{ROOT}/trades" + (f"/{trade_id}" if trade_id else "")
        after = self.ledger.put("trades", trade_id, trade)
        if after.has_negative_holdings():
            return Write(method, path, body, 400, self.ledger, "NEGATIVE_HOLDINGS")
        if method == "PUT":
            return Write(method, path, body, 200, after)
        return Write(method, path, body, 201, after, created=("trades", NEW))

    def create_trade(self) -> Write | None:
        trade = self.make_trade()
        return trade and self.write_trade("POST", NEW, trade)

    def change_trade(self) -> Write | None:
        trade_id, trade = self.pick(self.ledger.trades), self.make_trade()
        return trade and trade_id and self.write_trade("PUT", trade_id, trade)

    def delete_trade(self) -> Write | None:
        trade_id = self.pick(self.ledger.trades)
        if trade_id is None:
            return None
        path, after = f"{ROOT}/trades/{trade_id}", self.ledger.drop("trades", trade_id)
        if after.has_negative_holdings():
            code = "NEGATIVE_HOLDINGS"
            return Write("DELETE", path, None, 400, self.ledger, code)
        return Write("DELETE", path, None, 204, after)
