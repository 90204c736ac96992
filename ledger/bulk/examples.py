"""Examples of writes of several entries."""

from core.api.examples import Example, invalid

CLIENT_ID = "7f9c2f4e-9d0a-4b53-8a6f-2d3f6a1c0b11"
DINNER = {
    "op": "create",
    "clientId": CLIENT_ID,
    "entry": {
        "date": "2026-11-20",
        "type": "expense",
        "amount": 38_000,
        "categoryId": 21,
        "memo": "삼겹살",
    },
}
RENT = {"op": "update", "id": 42, "entry": {"memo": "11월 월세와 관리비"}}
CHANGE = {"ids": [42, 43], "set": {"excluded": True}, "addTags": ["주말"]}

EXAMPLES = {
    "runEntryBatch": Example(
        body={"operations": [DINNER, RENT]},
        answer={
            "results": [
                {
                    "index": 0,
                    "status": 201,
                    "id": 56,
                    "clientId": CLIENT_ID,
                    "version": 58,
                    "error": None,
                },
                {
                    "index": 1,
                    "status": 200,
                    "id": 42,
                    "clientId": None,
                    "version": 58,
                    "error": None,
                },
            ],
            "operationId": 62,
        },
        refusal=invalid(
            "operations.0.id",
            "required",
            "`id` or `clientId` is required.",
            body={"operations": [{"op": "delete"}]},
        ),
    ),
    "changeEntries": Example(
        body=CHANGE,
        answer={
            "matched": 2,
            "changed": 2,
            "unchanged": 0,
            "refusedCount": 0,
            "refused": [],
            "operationId": 63,
        },
        refusal=invalid(
            "filter",
            "required",
            "Must name at least one filter.",
            body={"filter": {}, "set": {"excluded": True}},
        ),
    ),
}
