"""Examples of notifications."""

from typing import Any

from core.api.examples import (
    Call,
    Example,
    Refusal,
    invalid,
    not_found,
    premium_required,
)
from core.errors import DuplicateError
from ledger.entries.examples import NOW, PENDING

PAYMENT_TEXT = "[Web발신]\n신한카드(1234)승인 김*지 24,900원(일시불)11/20 12:25 쿠팡"
PARSED = {
    "recognized": True,
    "kind": "approval",
    "cardCompany": "신한",
    "cardHint": "1234",
    "amount": 24_900,
    "currency": None,
    "originalAmount": None,
    "merchant": "쿠팡",
    "merchantConfidence": "SURE",
    "installmentMonths": None,
    "occurredAt": "2026-11-20T12:25:00+09:00",
    "runningTotal": None,
    "balance": None,
    "balanceCurrency": None,
    "balanceDifference": None,
    "preliminary": False,
    "direction": None,
    "walletId": 12,
    "reason": None,
    "taughtBy": None,
    "confidence": "SURE",
    "doubts": [],
    "candidates": {"merchant": []},
    "spans": {
        "kind": {"start": 18, "end": 20},
        "cardCompany": {"start": 8, "end": 12},
        "cardHint": {"start": 13, "end": 17},
        "amount": {"start": 25, "end": 32},
        "merchant": {"start": 49, "end": 51},
        "occurredAt": {"start": 37, "end": 48},
    },
}
NEW_NOTIFICATION = {
    "text": PAYMENT_TEXT,
    "receivedAt": "2026-11-20T12:25:10+09:00",
    "sender": "15447200",
}
OUTCOME: dict[str, Any] = {
    "action": "CREATED",
    "reason": None,
    "entry": PENDING
    | {
        "id": 46,
        "amount": 24_900,
        "memo": "쿠팡",
        "time": "12:25",
        "source": "NOTIFICATION",
    },
    "merged": [],
    "parsed": PARSED,
    "confidence": "SURE",
    "doubts": [],
    "candidates": {"merchant": []},
    "textId": None,
    "wouldBe": None,
}
WOULD_BE: dict[str, Any] = {
    "type": "expense",
    "date": "2026-11-20",
    "time": None,
    "amount": 8_000,
    "currency": None,
    "originalAmount": None,
    "memo": "소라분식",
    "walletId": 12,
}
UNSURE_TEXT: dict[str, Any] = {
    "id": 521,
    "text": "[식권] 7890 소라분식 에서 8,000냥 썼어요",
    "sender": "온누리식권",
    "receivedAt": "2026-11-20T12:30:00+09:00",
    "reason": "NO_PAYMENT",
    "wouldBe": WOULD_BE,
    "doubts": ["KIND", "MERCHANT"],
    "candidates": {"merchant": [{"text": "소라분식", "start": 10, "end": 14}]},
    "createdAt": NOW,
}
BOOKED: dict[str, Any] = OUTCOME | {
    "entry": PENDING
    | {
        "id": 47,
        "date": "2026-11-20",
        "amount": 8_000,
        "memo": "소라분식 본점",
        "time": None,
        "source": "NOTIFICATION",
    },
    "parsed": PARSED
    | {
        "cardCompany": None,
        "cardHint": "7890",
        "amount": 8_000,
        "merchant": "소라분식",
        "merchantConfidence": "GUESS",
        "occurredAt": None,
        "confidence": "UNSURE",
        "doubts": ["MERCHANT"],
        "candidates": UNSURE_TEXT["candidates"],
        "spans": {
            "merchant": {"start": 10, "end": 14},
            "amount": {"start": 18, "end": 23},
        },
    },
    "confidence": "UNSURE",
    "doubts": ["MERCHANT"],
    "candidates": UNSURE_TEXT["candidates"],
}
LAYOUT = {
    "id": 501,
    "sender": "15881234",
    "sample": "[새벽저축은행] ***님 체크 결제 {amount}원 / {merchant} / * *:*",
    "slots": ["amount", "merchant"],
    "kind": "approval",
    "unsure": False,
    "uses": 3,
    "createdAt": NOW,
}
TAUGHT_TEXT: dict[str, Any] = {
    "text": "[식권] 소라분식 에서 8,000냥 썼어요",
    "sender": "온누리식권",
    "kind": "approval",
    "slots": {
        "amount": {"start": 13, "end": 18},
        "merchant": {"start": 5, "end": 9},
    },
}

EXAMPLES = {
    "parseNotification": Example(
        body=NEW_NOTIFICATION,
        answer=PARSED | {"messages": [PARSED]},
        refusal=premium_required(body=NEW_NOTIFICATION),
    ),
    "processNotification": Example(
        body=NEW_NOTIFICATION,
        status=201,
        answer=OUTCOME | {"results": [OUTCOME]},
        refusal=premium_required(body=NEW_NOTIFICATION),
    ),
    "getNotificationSettings": Example(
        answer={"captureBankTexts": False}, refusal=premium_required()
    ),
    "updateNotificationSettings": Example(
        body={"captureBankTexts": True},
        answer={"captureBankTexts": True},
        refusal=invalid(
            "captureBankTexts",
            "invalid",
            "Must be true or false.",
            body={"captureBankTexts": "yes"},
        ),
    ),
    "listTaughtLayouts": Example(answer=[LAYOUT], refusal=premium_required()),
    "createTaughtLayout": Example(
        body=TAUGHT_TEXT,
        status=201,
        answer=LAYOUT
        | {
            "id": 502,
            "sender": "온누리식권",
            "sample": "[식권] {merchant} 에서 {amount}냥 썼어요",
            "slots": ["merchant", "amount"],
            "uses": 0,
        },
        refusal=invalid(
            "slots.amount",
            "invalid",
            "Must be one number above 0.",
            body=TAUGHT_TEXT
            | {"slots": TAUGHT_TEXT["slots"] | {"amount": {"start": 0, "end": 4}}},
        ),
    ),
    "deleteTaughtLayout": Example(
        path={"layoutId": 501}, status=204, refusal=not_found(layoutId=99)
    ),
    "listUnsureTexts": Example(
        answer={"count": 1, "next": None, "previous": None, "results": [UNSURE_TEXT]},
        refusal=premium_required(),
    ),
    "bookUnsureText": Example(
        path={"textId": 521},
        body={"corrections": {"memo": "소라분식 본점"}},
        status=201,
        answer=BOOKED,
        refusal=Refusal(DuplicateError(), Call(path={"textId": 522}, body={})),
    ),
}
