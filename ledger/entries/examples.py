"""Examples of entries."""

from core.api.examples import (
    Call,
    Example,
    Refusal,
    invalid,
    not_found,
    unauthenticated,
)
from ledger.errors import RefundExceedsError

NOW = "2026-11-20T03:30:00+00:00"
CARD = {"id": 12, "name": "신한카드"}
BANK = {"id": 13, "name": "국민은행"}

LUNCH = {
    "id": 43,
    "date": "2026-11-19",
    "type": "expense",
    "amount": 12_000,
    "category": "점심",
    "walletId": 12,
    "wallet": CARD,
    "toWalletId": None,
    "toWallet": None,
    "categoryId": 22,
    "categoryType": "expense",
    "memo": "김밥천국 강남점",
    "lines": [],
    "tags": ["회사"],
    "tagIds": [31],
    "currency": None,
    "originalAmount": None,
    "exchangeRate": None,
    "installmentMonths": None,
    "billMonth": None,
    "refundOf": None,
    "refunded": 0,
    "time": None,
    "excluded": False,
    "source": "MANUAL",
    "clientId": None,
    "merged": False,
    "pending": False,
    "createdAt": NOW,
    "updatedAt": NOW,
    "version": 57,
}
RENT = LUNCH | {
    "id": 42,
    "date": "2026-11-01",
    "amount": 650_000,
    "category": "월세",
    "categoryId": 24,
    "walletId": 13,
    "wallet": BANK,
    "memo": "11월 월세",
    "tags": [],
    "tagIds": [],
}
PENDING = LUNCH | {
    "id": 44,
    "date": "2026-11-20",
    "amount": 5_600,
    "category": None,
    "categoryId": None,
    "memo": "스타벅스강남점",
    "tags": [],
    "tagIds": [],
    "pending": True,
}
NEW_DINNER = {
    "date": "2026-11-20",
    "type": "expense",
    "amount": 38_000,
    "category": "외식",
    "memo": "삼겹살",
    "tags": ["회사"],
}
DINNER = (
    LUNCH | NEW_DINNER | {"id": 45, "walletId": None, "wallet": None, "categoryId": 30}
)
CARD_DINNER = DINNER | {"amount": 41_000, "walletId": 12, "wallet": CARD}

CASH = {"id": 11, "name": "현금"}
WITHDRAWAL = {
    "id": 49,
    "date": "2026-11-18",
    "amount": 300_000,
    "category": None,
    "categoryId": None,
    "walletId": 13,
    "wallet": BANK,
    "memo": "ATM 출금",
    "tags": [],
    "tagIds": [],
    "pending": True,
}

EXAMPLES = {
    "createEntry": Example(
        body=NEW_DINNER,
        status=201,
        answer=DINNER,
        refusal=invalid(
            "currency",
            "invalid",
            "Unknown currency.",
            body=NEW_DINNER | {"currency": "원"},
        ),
    ),
    "listEntries": Example(
        query={"year": 2026, "month": 11, "category": "식비"},
        answer={
            "count": 1,
            "next": None,
            "previous": None,
            "results": [LUNCH | {"matchedAmount": 12_000}],
        },
        refusal=invalid(
            "year", "required", "`year` is required with `month`.", query={"month": 11}
        ),
    ),
    "getEntry": Example(
        path={"entryId": 45}, answer=DINNER, refusal=not_found(entryId=99)
    ),
    "replaceEntry": Example(
        path={"entryId": 45},
        body=NEW_DINNER | {"amount": 41_000, "walletId": 12},
        answer=CARD_DINNER,
        refusal=invalid(
            "installmentMonths",
            "min_value",
            "Must be at least 2.",
            path={"entryId": 45},
            body=NEW_DINNER | {"installmentMonths": 1},
        ),
    ),
    "updateEntry": Example(
        path={"entryId": 45},
        body={"installmentMonths": 3},
        answer=CARD_DINNER | {"installmentMonths": 3},
        refusal=not_found(entryId=99, body={"installmentMonths": 3}),
    ),
    "countPendingEntries": Example(answer={"count": 3}, refusal=unauthenticated()),
    "confirmEntry": Example(
        path={"entryId": 44},
        body={"category": "식비"},
        answer=PENDING | {"category": "식비", "categoryId": 21, "pending": False},
        refusal=not_found(entryId=99, body={"category": "식비"}),
    ),
    "refundEntry": Example(
        path={"entryId": 43},
        body={"amount": 4_000},
        status=201,
        answer=LUNCH
        | {
            "id": 48,
            "date": "2026-11-20",
            "type": "income",
            "amount": 4_000,
            "refundOf": 43,
            "refunded": None,
        },
        refusal=Refusal(
            RefundExceedsError(), Call(path={"entryId": 43}, body={"amount": 20_000})
        ),
    ),
    "mergeEntry": Example(
        path={"entryId": 49},
        body={"with": 50},
        answer=LUNCH
        | {
            "id": 49,
            "date": "2026-11-18",
            "type": "transfer",
            "amount": 300_000,
            "category": None,
            "categoryId": None,
            "walletId": 13,
            "wallet": BANK,
            "toWalletId": 11,
            "toWallet": CASH,
            "memo": "ATM 출금",
            "tags": [],
            "tagIds": [],
            "refunded": None,
            "merged": True,
            "pending": True,
        },
        refusal=not_found(entryId=99, body={"with": 50}),
    ),
    "unmergeEntry": Example(
        path={"entryId": 49},
        body={"dryRun": False},
        answer=[
            LUNCH | WITHDRAWAL | {"givenUp": []},
            LUNCH
            | WITHDRAWAL
            | {
                "id": 50,
                "type": "income",
                "categoryType": "income",
                "walletId": 11,
                "wallet": CASH,
                "memo": "",
                "refunded": None,
            },
        ],
        refusal=not_found(entryId=99, body={"dryRun": False}),
    ),
    "listTransferCandidates": Example(
        query={"from": "2026-11-01", "to": "2026-11-30"},
        answer=[{"outId": 49, "inId": 50, "amount": 300_000, "days": 0, "fee": 0}],
        refusal=invalid(
            "to",
            "invalid",
            "Must be a date as YYYY-MM-DD.",
            query={"to": "2026-11-31"},
        ),
    ),
    "dismissTransferCandidate": Example(
        body={"outId": 49, "inId": 50},
        status=204,
        refusal=invalid(
            "outId",
            "does_not_exist",
            "Must be an expense with a wallet.",
            body={"outId": 50, "inId": 49},
        ),
    ),
    "deleteEntry": Example(
        path={"entryId": 45}, status=204, refusal=not_found(entryId=99)
    ),
}
