"""Examples of installments and targets: a washing machine in three parts."""

from core.api.examples import Example, not_found, premium_required

EXAMPLES = {
    "listInstallments": Example(
        caller="administrator",
        answer={
            "items": [
                {
                    "entryId": 3551,
                    "walletId": 3550,
                    "memo": "세탁기",
                    "amount": 1_000_000,
                    "months": 3,
                    "billed": 333_334,
                    "remaining": 666_666,
                    "next": {"month": "2026-12", "amount": 333_333},
                    "last": "2027-01",
                    "parts": [
                        {"month": "2026-11", "amount": 333_334},
                        {"month": "2026-12", "amount": 333_333},
                        {"month": "2027-01", "amount": 333_333},
                    ],
                }
            ],
            "remaining": 666_666,
            "byMonth": [
                {"month": "2026-12", "amount": 333_333},
                {"month": "2027-01", "amount": 333_333},
            ],
        },
        refusal=premium_required(),
    ),
    "getCardTargets": Example(
        caller="administrator",
        path={"walletId": 3550},
        query={"month": "2026-11"},
        answer={
            "month": "2026-11",
            "counted": 412_000,
            "excluded": [{"reason": "CATEGORY", "amount": 98_000}],
            "targets": [
                {"amount": 300_000, "reached": True, "remaining": 0},
                {"amount": 600_000, "reached": False, "remaining": 188_000},
            ],
            "lastDay": "2026-11-30",
        },
        refusal=not_found(walletId=19),
    ),
}
