"""Examples of imports."""

from typing import Any

from core.api.examples import Example, invalid, not_found, unauthenticated

# The file that the example of `createImport` sends.
BANK_LIST = """\
거래일,시간,내용,출금액,입금액,계좌
2026-11-19,12:31,한결마트 강남,32000,,국민은행
2026-11-20,08:10,이자,,1200,국민은행
"""
_COLUMNS = ("거래일", "시간", "내용", "출금액", "입금액", "계좌")
_FIELDS = ("date", "time", "text", "out", "in", "wallet")


def _row(number: int, **entry: Any) -> dict[str, Any]:
    return {
        "row": number,
        "status": "NEW",
        "reason": "NEW",
        "detail": "The ledger has no such entry.",
        "action": "IMPORT",
        "deleted": False,
        "entry": {
            "currency": None,
            "originalAmount": None,
            "wallet": "국민은행",
            "toWallet": None,
            "toWalletId": None,
            "category": None,
            "isLearned": False,
            "tags": [],
            "installmentMonths": None,
            **entry,
        },
        "entryId": None,
        "otherRow": None,
        "errors": [],
        "cells": [],
    }


MARKET = _row(
    2,
    date="2026-11-19",
    time="12:31",
    direction="OUT",
    amount=32_000,
    categoryType="expense",
    memo="한결마트 강남",
)
INTEREST = _row(
    3,
    date="2026-11-20",
    time="08:10",
    direction="IN",
    amount=1_200,
    categoryType="income",
    memo="이자",
)
SUMMARY: dict[str, Any] = {
    "id": 3401,
    "source": "csv",
    "counts": {
        "NEW": 2,
        "DUPLICATE": 0,
        "LIKELY_DUPLICATE": 0,
        "TRANSFER": 0,
        "PAIRED": 0,
        "UNPAIRED": 0,
        "REFUND": 0,
        "INVALID": 0,
    },
    "createdAt": "2026-11-20T12:30:00+09:00",
    "expiresAt": "2026-11-27T12:30:00+09:00",
    "committedAt": None,
    "result": None,
}
IMPORT: dict[str, Any] = {
    **SUMMARY,
    "columns": [{"column": n, "name": name} for n, name in enumerate(_COLUMNS)],
    "mapping": [
        {"column": number, "name": name, "field": field}
        for number, (name, field) in enumerate(zip(_COLUMNS, _FIELDS, strict=True))
    ],
    "headerRow": 1,
    "dateOrder": "ymd",
    "wallets": [
        {"name": "국민은행", "walletId": 13, "create": None, "guess": "NAME", "rows": 2}
    ],
    "categories": [],
    "balances": [],
    "applyBalances": False,
    "passedOver": {},
    "leftOut": [],
    "sample": [MARKET, INTEREST],
}
_CHOSEN = {**MARKET, "entry": {**MARKET["entry"], "category": "식비"}}
_CHANGES = [{"row": 2, "action": "IMPORT", "entry": {"category": "식비"}}]
_BODY = {"wallets": [{"name": "국민은행", "walletId": 13}]}

EXAMPLES = {
    "createImport": Example(
        upload="file",
        status=201,
        answer=IMPORT,
        refusal=unauthenticated(upload="file"),
    ),
    "listImports": Example(answer=[SUMMARY], refusal=unauthenticated()),
    "getImport": Example(
        path={"importId": 3401}, answer=IMPORT, refusal=not_found(importId=9)
    ),
    "listImportRows": Example(
        path={"importId": 3401},
        query={"status": "NEW"},
        answer={
            "count": 2,
            "next": None,
            "previous": None,
            "results": [MARKET, INTEREST],
        },
        refusal=not_found(importId=9),
    ),
    "updateImport": Example(
        path={"importId": 3401},
        body=_BODY,
        answer={
            **IMPORT,
            "wallets": [{**IMPORT["wallets"][0], "guess": None}],
        },
        refusal=not_found(importId=9, body=_BODY),
    ),
    "changeImportRows": Example(
        path={"importId": 3401},
        body=_CHANGES,
        answer=[_CHOSEN],
        refusal=invalid(
            "0.row",
            "does_not_exist",
            "The file has no such row.",
            path={"importId": 3401},
            body=[{"row": 9, "action": "SKIP"}],
        ),
    ),
    "commitImport": Example(
        path={"importId": 3401},
        answer={
            "created": 2,
            "merged": 0,
            "paired": 0,
            "skipped": 0,
            "notes": [],
            "operationId": 3402,
        },
        refusal=not_found(importId=9),
    ),
    "deleteImport": Example(
        path={"importId": 3401}, status=204, refusal=not_found(importId=9)
    ),
}
