"""Examples of wallets and net worth."""

from core.api.examples import (
    Call,
    Example,
    Refusal,
    duplicate,
    invalid,
    not_found,
    unauthenticated,
)
from core.errors import InUseError, InvalidOrderError, NotFoundError
from ledger.entries.examples import LUNCH as ENTRY
from ledger.wallets.wallets import WALLET_NAME_TAKEN

CASH = {
    "id": 11,
    "name": "현금",
    "kind": "CASH",
    "institution": "",
    "accountNumber": None,
    "openingBalance": 50_000,
    "balance": 50_000,
    "manualValuation": False,
    "currentValue": None,
    "archived": False,
    "memo": "",
    "icon": None,
    "color": None,
    "sortOrder": 1,
    "version": 12,
}
CARD = CASH | {
    "id": 12,
    "name": "신한카드",
    "kind": "CARD",
    "institution": "신한",
    "openingBalance": 0,
    "balance": -12_000,
    "sortOrder": 2,
}
BANK = CASH | {
    "id": 13,
    "name": "국민은행",
    "kind": "BANK",
    "institution": "KB국민",
    "accountNumber": "123456-04-567890",
    "openingBalance": 3_000_000,
    "balance": 5_550_000,
    "sortOrder": 3,
}
NEW_SAVINGS = {
    "name": "여행 통장",
    "kind": "BANK",
    "institution": "카카오뱅크",
    "accountNumber": "3333-01-2345678",
    "openingBalance": 300_000,
    "memo": "제주 여행",
    "icon": "✈️",
    "color": "#1a73e8",
}
SAVINGS = CASH | NEW_SAVINGS | {"id": 14, "balance": 300_000, "sortOrder": 4}
VALUED = SAVINGS | {"memo": "부산 여행", "archived": True, "manualValuation": True}

ADJUSTMENT = ENTRY | {
    "id": 52,
    "date": "2026-11-20",
    "type": "expense",
    "amount": 2_000,
    "category": None,
    "categoryId": None,
    "walletId": 11,
    "wallet": {"id": 11, "name": "현금"},
    "memo": "",
    "tags": [],
    "tagIds": [],
    "excluded": True,
    "source": "ADJUSTMENT",
}

EXAMPLES = {
    "createWallet": Example(
        body=NEW_SAVINGS,
        status=201,
        answer=SAVINGS,
        refusal=duplicate(WALLET_NAME_TAKEN, body={"name": "현금", "kind": "CASH"}),
    ),
    "listWallets": Example(
        answer=[CASH, CARD, BANK, SAVINGS], refusal=unauthenticated()
    ),
    "getWallet": Example(
        path={"walletId": 14}, answer=SAVINGS, refusal=not_found(walletId=19)
    ),
    "replaceWallet": Example(
        path={"walletId": 14},
        body=NEW_SAVINGS | {"memo": "부산 여행"},
        answer=SAVINGS | {"memo": "부산 여행"},
        refusal=invalid(
            "name",
            "required",
            "This field is required.",
            path={"walletId": 14},
            body={"kind": "BANK"},
        ),
    ),
    "updateWallet": Example(
        path={"walletId": 14},
        body={"archived": True, "manualValuation": True},
        answer=VALUED,
        refusal=duplicate(
            WALLET_NAME_TAKEN, path={"walletId": 14}, body={"name": "현금"}
        ),
    ),
    "createValuation": Example(
        path={"walletId": 14},
        body={"date": "2026-11-01", "value": 5_000_000},
        status=201,
        answer={"date": "2026-11-01", "value": 5_000_000, "version": 57},
        refusal=not_found(walletId=19, body={"date": "2026-11-01", "value": 1}),
    ),
    "listValuations": Example(
        path={"walletId": 14},
        answer=[{"date": "2026-11-01", "value": 5_000_000, "version": 57}],
        refusal=not_found(walletId=19),
    ),
    "deleteValuation": Example(
        path={"walletId": 14},
        query={"date": "2026-11-01"},
        status=204,
        refusal=Refusal(
            NotFoundError(),
            Call(path={"walletId": 19}, query={"date": "2026-11-01"}),
        ),
    ),
    "reorderWallets": Example(
        body={"ids": [12, 13, 11, 14]},
        answer=[
            CARD | {"sortOrder": 1},
            BANK | {"sortOrder": 2},
            CASH | {"sortOrder": 3},
            VALUED,
        ],
        refusal=Refusal(InvalidOrderError(), Call(body={"ids": [12, 13]})),
    ),
    "deleteWallet": Example(
        path={"walletId": 14},
        query={"moveTo": 13},
        status=204,
        refusal=Refusal(
            InUseError("The wallet is in use. Set `moveTo` to another one."),
            Call(path={"walletId": 13}),
        ),
    ),
    "getNetWorth": Example(
        answer={
            "total": 6_303_000,
            "assets": 6_315_000,
            "liabilities": 12_000,
            "investments": 715_000,
            "wallets": [
                {
                    "id": 12,
                    "name": "신한카드",
                    "kind": "CARD",
                    "balance": -12_000,
                    "value": -12_000,
                    "archived": False,
                },
                {
                    "id": 13,
                    "name": "국민은행",
                    "kind": "BANK",
                    "balance": 5_550_000,
                    "value": 5_550_000,
                    "archived": False,
                },
                {
                    "id": 11,
                    "name": "현금",
                    "kind": "CASH",
                    "balance": 50_000,
                    "value": 50_000,
                    "archived": False,
                },
            ],
        },
        refusal=unauthenticated(),
    ),
    "getNetWorthTrend": Example(
        query={"unit": "month", "months": 2},
        answer={
            "unit": "month",
            "points": [
                {
                    "start": "2026-10-01",
                    "end": "2026-10-31",
                    "income": 0,
                    "expense": 0,
                    "net": 0,
                    "netWorth": 3_765_000,
                },
                {
                    "start": "2026-11-01",
                    "end": "2026-11-30",
                    "income": 3_200_000,
                    "expense": 662_000,
                    "net": 2_538_000,
                    "netWorth": 6_303_000,
                },
            ],
        },
        refusal=invalid(
            "weeks",
            "max_value",
            "Must be at most 520.",
            query={"unit": "WEEK", "weeks": 1_000},
        ),
    ),
    "reconcileWallet": Example(
        path={"walletId": 11},
        body={"date": "2026-11-20", "balance": 48_000},
        answer={"before": 50_000, "difference": -2_000, "entry": ADJUSTMENT},
        refusal=not_found(walletId=19, body={"date": "2026-11-20", "balance": 48_000}),
    ),
    "listWalletHistory": Example(
        path={"walletId": 11},
        answer={
            "count": None,
            "next": None,
            "previous": None,
            "results": [ADJUSTMENT | {"change": -2_000, "balanceAfter": 48_000}],
        },
        refusal=not_found(walletId=19),
    ),
}
