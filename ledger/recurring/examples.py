"""Examples of recurring rules."""

from core.api.examples import (
    Example,
    invalid,
    not_found,
    premium_required,
)
from ledger.entries.examples import BANK, RENT

HOME = {
    "id": 61,
    "name": "월세",
    "type": "expense",
    "amount": 650_000,
    "category": "월세",
    "categoryId": 24,
    "categoryType": "expense",
    "walletId": 13,
    "toWalletId": None,
    "toWallet": None,
    "lines": [],
    "memo": "",
    "tags": [],
    "frequency": "MONTHLY",
    "interval": 1,
    "anchorDate": "2026-11-01",
    "endDate": None,
    "nextDate": "2026-12-01",
    "active": True,
    "version": 63,
}
NEW_PHONE = {
    "name": "휴대폰 요금",
    "type": "expense",
    "amount": 33_000,
    "category": "통신",
    "memo": "알뜰폰",
    "tags": [],
    "frequency": "MONTHLY",
    "interval": 1,
    "anchorDate": "2026-11-25",
    "endDate": None,
    "active": True,
}
PHONE = (
    HOME
    | NEW_PHONE
    | {"id": 62, "categoryId": 30, "walletId": None, "nextDate": "2026-11-25"}
)

EXAMPLES = {
    "createRecurringRule": Example(
        body=NEW_PHONE,
        status=201,
        answer=PHONE,
        refusal=invalid(
            "frequency",
            "invalid_choice",
            "This is none of the possible values.",
            body=NEW_PHONE | {"frequency": "HOURLY"},
        ),
    ),
    "listRecurringRules": Example(answer=[HOME, PHONE], refusal=premium_required()),
    "getRecurringRule": Example(
        path={"ruleId": 62}, answer=PHONE, refusal=not_found(ruleId=69)
    ),
    "replaceRecurringRule": Example(
        path={"ruleId": 62},
        body=NEW_PHONE | {"walletId": 13},
        answer=PHONE | {"walletId": 13},
        refusal=invalid(
            "endDate",
            "invalid",
            "Must not be before `anchorDate`.",
            path={"ruleId": 62},
            body=NEW_PHONE | {"endDate": "2026-11-01"},
        ),
    ),
    "updateRecurringRule": Example(
        path={"ruleId": 62},
        body={"active": False},
        answer=PHONE | {"walletId": 13, "active": False},
        refusal=not_found(ruleId=69, body={"active": False}),
    ),
    "listOccurrences": Example(
        path={"ruleId": 61},
        answer={
            "count": 1,
            "next": None,
            "previous": None,
            "results": [
                {
                    "id": 301,
                    "dueDate": "2026-11-01",
                    "status": "BOOKED",
                    "entryId": 42,
                }
            ],
        },
        refusal=not_found(ruleId=69),
    ),
    "runRecurringRule": Example(
        path={"ruleId": 62},
        status=201,
        answer=RENT
        | {
            "id": 47,
            "date": "2026-11-25",
            "amount": 33_000,
            "category": "통신",
            "categoryId": 30,
            "source": "RECURRING",
            "wallet": BANK,
            "memo": "알뜰폰",
        },
        refusal=not_found(ruleId=69),
    ),
    "deleteRecurringRule": Example(
        path={"ruleId": 62}, status=204, refusal=not_found(ruleId=69)
    ),
}
