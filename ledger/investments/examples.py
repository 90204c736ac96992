"""Examples of investments."""

from datetime import date

from core.api.examples import (
    Call,
    Example,
    Refusal,
    duplicate,
    invalid,
    not_found,
    premium_required,
)
from core.errors import InUseError, InvalidOrderError
from ledger.errors import NegativeHoldingsError
from ledger.investments.trading import STOCK_CODE_TAKEN

NOW = "2026-11-20T03:30:00+00:00"
SAMSUNG = {
    "id": 81,
    "code": "005930",
    "name": "삼성전자",
    "market": "KOSPI",
    "currentPrice": 71_500,
    "priceAt": NOW,
    "sortOrder": 1,
    "version": 63,
}
NEW_ETF = {
    "code": "069500",
    "name": "KODEX 200",
    "market": "KOSPI",
    "currentPrice": 38_200,
}
ETF = SAMSUNG | NEW_ETF | {"id": 82, "sortOrder": 2}
BUY = {
    "id": 91,
    "stockId": 81,
    "side": "BUY",
    "date": "2026-03-02",
    "quantity": 10,
    "price": 68_000,
    "fee": 100,
    "tax": 0,
    "memo": "",
    "version": 63,
}
NEW_SELL = {
    "stockId": 81,
    "side": "SELL",
    "date": "2026-11-16",
    "quantity": 4,
    "price": 72_000,
    "fee": 40,
    "tax": 518,
    "memo": "일부 매도",
}
SELL = BUY | NEW_SELL | {"id": 92}

EXAMPLES = {
    "createStock": Example(
        body=NEW_ETF,
        status=201,
        answer=ETF,
        refusal=duplicate(STOCK_CODE_TAKEN, body=NEW_ETF | {"code": "005930"}),
    ),
    "listStocks": Example(answer=[SAMSUNG, ETF], refusal=premium_required()),
    "getStock": Example(
        path={"stockId": 82}, answer=ETF, refusal=not_found(stockId=89)
    ),
    "replaceStock": Example(
        path={"stockId": 82},
        body=NEW_ETF | {"currentPrice": 38_500},
        answer=ETF | {"currentPrice": 38_500},
        refusal=invalid(
            "name",
            "required",
            "This field is required.",
            path={"stockId": 82},
            body={"code": "069500"},
        ),
    ),
    "updateStock": Example(
        path={"stockId": 82},
        body={"currentPrice": 38_900},
        answer=ETF | {"currentPrice": 38_900},
        refusal=invalid(
            "currentPrice",
            "min_value",
            "Must be at least 0.",
            path={"stockId": 82},
            body={"currentPrice": -1},
        ),
    ),
    "reorderStocks": Example(
        body={"ids": [82, 81]},
        answer=[
            ETF | {"currentPrice": 38_900, "sortOrder": 1},
            SAMSUNG | {"sortOrder": 2},
        ],
        refusal=Refusal(InvalidOrderError(), Call(body={"ids": [82]})),
    ),
    "createTrade": Example(
        body=NEW_SELL,
        status=201,
        answer=SELL,
        refusal=Refusal(
            NegativeHoldingsError(date(2026, 11, 16)),
            Call(body=NEW_SELL | {"quantity": 12}),
        ),
    ),
    "listTrades": Example(
        query={"stockId": 81},
        answer={"count": 2, "next": None, "previous": None, "results": [SELL, BUY]},
        refusal=premium_required(query={"stockId": 81}),
    ),
    "getTrade": Example(
        path={"tradeId": 92}, answer=SELL, refusal=not_found(tradeId=99)
    ),
    "replaceTrade": Example(
        path={"tradeId": 92},
        body=NEW_SELL | {"quantity": 2.5, "tax": 324},
        answer=SELL | {"quantity": 2.5, "tax": 324},
        refusal=Refusal(
            NegativeHoldingsError(date(2026, 11, 16)),
            Call(path={"tradeId": 92}, body=NEW_SELL | {"quantity": 12}),
        ),
    ),
    "updateTrade": Example(
        path={"tradeId": 92},
        body={"quantity": 4, "tax": 518},
        answer=SELL,
        refusal=not_found(tradeId=99, body={"quantity": 4}),
    ),
    "getPortfolio": Example(
        answer={
            "holdings": [
                {
                    "stockId": 81,
                    "code": "005930",
                    "name": "삼성전자",
                    "market": "KOSPI",
                    "quantity": 6,
                    "averageCost": 68_010,
                    "costBasis": 408_060,
                    "currentPrice": 71_500,
                    "priceAt": NOW,
                    "priceStale": False,
                    "marketValue": 429_000,
                    "unrealizedProfit": 20_940,
                    "unrealizedRate": 0.0513,
                    "realizedProfit": 15_402,
                }
            ],
            "totals": {
                "costBasis": 408_060,
                "marketValue": 429_000,
                "unrealizedProfit": 20_940,
                "unrealizedRate": 0.0513,
                "realizedProfit": 15_402,
            },
        },
        refusal=premium_required(),
    ),
    "deleteTrade": Example(
        path={"tradeId": 92}, status=204, refusal=not_found(tradeId=99)
    ),
    "deleteStock": Example(
        path={"stockId": 82},
        status=204,
        refusal=Refusal(
            InUseError("The stock has trades."), Call(path={"stockId": 81})
        ),
    ),
}
