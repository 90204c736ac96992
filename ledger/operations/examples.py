"""Examples of operations and their undo."""

from core.api.examples import Example, not_found, unauthenticated

DELETION = {
    "id": 57,
    "kind": "delete",
    "at": "2026-11-20T12:30:00+09:00",
    "by": 1,
    "counts": {"entry": {"deleted": 1}},
    "undoableUntil": "2026-12-20T12:30:00+09:00",
    "undone": False,
}

EXAMPLES = {
    "listOperations": Example(
        answer={"count": 1, "next": None, "previous": None, "results": [DELETION]},
        refusal=unauthenticated(),
    ),
    "getOperation": Example(
        path={"operationId": 57},
        answer={
            **DELETION,
            "rows": {
                "count": 1,
                "next": None,
                "previous": None,
                "results": [
                    {
                        "kind": "entry",
                        "id": 58,
                        "action": "deleted",
                        "name": "서점",
                        "date": "2026-11-15",
                        "amount": 18_000,
                    }
                ],
            },
        },
        refusal=not_found(operationId=9),
    ),
    "undoOperation": Example(
        path={"operationId": 57},
        body={},
        answer={
            "restored": 1,
            "reverted": 0,
            "removed": 0,
            "keptCount": 0,
            "kept": [],
            "operationId": 59,
        },
        refusal=not_found(operationId=9, body={}),
    ),
}
