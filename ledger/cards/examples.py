"""Examples of cards, bills and parts."""

from core.api.examples import (
    Example,
    invalid,
    not_found,
    premium_required,
    unauthenticated,
)
from ledger.cards.presets import list_presets
from ledger.entries.examples import BANK, CARD, LUNCH, PENDING

SETTINGS = {
    "closingDay": 31,
    "paymentDay": 14,
    "paymentMonth": 1,
    "shift": "NEXT",
    "payFromWalletId": 13,
    "autoPay": True,
    "creditLimit": 5_000_000,
    "billedWithId": None,
    "targets": [300_000, 600_000],
    "targetExcludes": {"categories": ["월세"], "tags": [], "installments": False},
    "from": "2026-12",
}
STORED = {"walletId": 12, **SETTINGS, "credit": 0, "unbilled": 0, "version": 58}
ITEM = {
    "entryId": 43,
    "walletId": 12,
    "date": "2026-11-19",
    "memo": LUNCH["memo"],
    "amount": 12_000,
    "part": None,
    "parts": None,
    "pending": False,
}
BILL = {
    "walletId": 12,
    "month": "2026-12",
    "periodStart": "2026-11-01",
    "periodEnd": "2026-11-30",
    "paymentDate": "2026-12-14",
    "charges": 12_000,
    "installments": 0,
    "refunds": 0,
    "carried": 0,
    "total": 12_000,
    "printed": None,
    "difference": None,
    "paid": 0,
    "remaining": 12_000,
    "pending": 5_600,
    "status": "OPEN",
    "items": [
        ITEM,
        ITEM
        | {
            "entryId": 44,
            "date": "2026-11-20",
            "memo": PENDING["memo"],
            "amount": 5_600,
            "pending": True,
        },
    ],
    "payments": [],
}
PRINTED = BILL | {"printed": 12_000, "difference": 0}
PAYMENT = LUNCH | {
    "id": 3501,
    "date": "2026-11-20",
    "type": "transfer",
    "category": None,
    "categoryId": None,
    "walletId": 13,
    "wallet": BANK,
    "toWalletId": 12,
    "toWallet": CARD,
    "memo": "신한카드 2026-12",
    "tags": [],
    "tagIds": [],
    "refunded": None,
    "billMonth": "2026-12",
    "source": "BILL",
}
_OF_BILL = {"walletId": 12, "month": "2026-12"}
_NO_INSTALLMENTS = "The entry has no installments."

EXAMPLES = {
    "replaceCard": Example(
        path={"walletId": 12},
        body=SETTINGS,
        answer=STORED,
        refusal=invalid(
            "closingDay",
            "max_value",
            "Must be at most 31.",
            path={"walletId": 12},
            body=SETTINGS | {"closingDay": 32},
        ),
    ),
    "getCard": Example(
        path={"walletId": 12}, answer=STORED, refusal=not_found(walletId=19)
    ),
    "listCardPresets": Example(
        answer=[
            {
                "issuer": preset.issuer,
                "paymentDay": preset.payment_day,
                "closingDay": preset.closing_day,
                "paymentMonth": preset.payment_month,
                "checkedOn": preset.checked_on.isoformat(),
            }
            for preset in list_presets()
        ],
        refusal=unauthenticated(),
    ),
    "listCardBills": Example(
        path={"walletId": 12},
        query={"from": "2026-12", "to": "2026-12"},
        answer=[BILL],
        refusal=invalid(
            "to",
            "invalid",
            "Must not be before `from`.",
            path={"walletId": 12},
            query={"from": "2026-12", "to": "2026-11"},
        ),
    ),
    "getCardBill": Example(
        path=_OF_BILL, answer=BILL, refusal=premium_required(path=_OF_BILL)
    ),
    "listBillsOfMonth": Example(
        query={"month": "2026-12"},
        answer={
            "month": "2026-12",
            "total": 12_000,
            "paid": 0,
            "remaining": 12_000,
            "bills": [BILL],
        },
        refusal=premium_required(query={"month": "2026-12"}),
    ),
    "setPrintedBill": Example(
        path=_OF_BILL,
        body={"amount": 12_000},
        answer=PRINTED,
        refusal=invalid(
            "paymentDate",
            "invalid",
            "Must not be before the end of the period.",
            path=_OF_BILL,
            body={"paymentDate": "2026-11-14"},
        ),
    ),
    "payCardBill": Example(
        path=_OF_BILL,
        body={},
        status=201,
        answer=PAYMENT,
        refusal=invalid(
            "walletId",
            "invalid",
            "Must be another wallet.",
            path=_OF_BILL,
            body={"walletId": 12},
        ),
    ),
    "deletePrintedBill": Example(
        path=_OF_BILL, status=204, refusal=premium_required(path=_OF_BILL)
    ),
    "getInstallmentParts": Example(
        path={"entryId": 43},
        answer={"amounts": [12_000], "typed": False, "version": 57},
        refusal=not_found(entryId=49_999),
    ),
    "setInstallmentParts": Example(
        path={"entryId": 43},
        body={"amounts": None},
        answer={"amounts": [12_000], "typed": False, "version": 59},
        refusal=invalid(
            "amounts",
            "invalid",
            _NO_INSTALLMENTS,
            path={"entryId": 43},
            body={"amounts": [6_000, 6_000]},
        ),
    ),
    "deleteCard": Example(
        path={"walletId": 12}, status=204, refusal=not_found(walletId=19)
    ),
}
