"""Examples of receipts, exchange rates and backups."""

from core.api.examples import (
    Call,
    Example,
    Refusal,
    invalid,
    premium_required,
)
from core.errors import FieldError
from ledger.errors import InvalidBackupError

ROWS = {
    "wallets": [{"name": "신한카드", "kind": "CARD", "institution": "신한"}],
    "tags": [{"name": "회사"}],
    "categories": [
        {"name": "식비", "type": "expense"},
        {"name": "점심", "type": "expense", "parent": "식비"},
    ],
    "entries": [
        {
            "date": "2026-11-19",
            "type": "expense",
            "amount": 12_000,
            "category": "점심",
            "wallet": "신한카드",
            "memo": "김밥천국 강남점",
            "tags": ["회사"],
        }
    ],
    "budgets": [{"year": 2026, "month": 11, "category": "식비", "amount": 400_000}],
}

RESULT = {
    "dryRun": True,
    "wallets": 1,
    "tags": 1,
    "categories": 2,
    "entries": 1,
    "recurring": 0,
    "budgets": 1,
    "quickEntries": 0,
    "lines": 0,
    "valuations": 0,
    "mergedEntries": 0,
    "cards": 0,
    "bills": 0,
    "ignored": [],
}

EXAMPLES = {
    "recognizeReceipt": Example(
        upload="image",
        answer={"text": "김밥천국 강남점\n합계 12,000원"},
        refusal=premium_required(upload="image"),
    ),
    "getFxRate": Example(
        query={"from": "USD", "to": "KRW"},
        answer={"from": "USD", "to": "KRW", "rate": 1_387.5, "date": "2026-11-20"},
        refusal=invalid(
            "from", "invalid", "Unknown currency.", query={"from": "원", "to": "KRW"}
        ),
    ),
    "downloadBackup": Example(refusal=premium_required()),
    "restoreBackup": Example(
        query={"dryRun": True},
        upload="file",
        answer=RESULT,
        refusal=premium_required(upload="file"),
    ),
    "restoreBackupFromJson": Example(
        query={"dryRun": True},
        body=ROWS,
        answer=RESULT,
        refusal=Refusal(
            InvalidBackupError(
                errors=(
                    FieldError(
                        "wallets.0.kind",
                        "Must be one of CASH, BANK, CARD, CHECK_CARD, INVESTMENT, "
                        "PENSION, LOAN, PREPAID, RECEIVABLE, OTHER.",
                        "invalid_choice",
                        {"sheet": "wallets", "row": 2, "column": "kind"},
                    ),
                )
            ),
            Call(body={"wallets": [{"name": "신한카드", "kind": "체크"}]}),
        ),
    ),
}
