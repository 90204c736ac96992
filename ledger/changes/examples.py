"""Examples of the feed of changes."""

from core.api.examples import Example, invalid, unauthenticated

CURSOR = "WzEsNTcsIn4iLDAsNTcsNzM5OTQwLHRydWVd:K2JtdV9zqS1x"

EXAMPLES = {
    "listChanges": Example(
        query={"size": 2},
        answer={
            "changes": [
                {
                    "kind": "settings",
                    "id": 0,
                    "version": 0,
                    "deleted": False,
                    "data": {"captureBankTexts": False},
                },
                {
                    "kind": "budget",
                    "id": 71,
                    "version": 57,
                    "deleted": False,
                    "data": {
                        "categoryId": 21,
                        "year": 2026,
                        "month": 11,
                        "amount": 400_000,
                    },
                },
            ],
            "cursor": CURSOR,
            "hasMore": True,
            "balances": None,
        },
        refusal=invalid(
            "since",
            "invalid",
            "Must be a cursor that an answer gave.",
            query={"since": "5"},
        ),
    ),
    "getDigest": Example(
        answer={
            "cursor": CURSOR,
            "kinds": {
                kind: {"count": count, "digest": "731804553204467712"}
                for kind, count in {
                    "bill": 0,
                    "budget": 2,
                    "budgetIncome": 0,
                    "card": 0,
                    "category": 5,
                    "entry": 6,
                    "quickEntry": 1,
                    "recurring": 1,
                    "settings": 1,
                    "stock": 1,
                    "tag": 2,
                    "trade": 1,
                    "valuation": 0,
                    "wallet": 3,
                }.items()
            },
        },
        refusal=unauthenticated(),
    ),
}
