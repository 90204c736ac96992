"""Examples of the log."""

from core.api.examples import Example, administrator_required, invalid

EXAMPLES = {
    "listLog": Example(
        caller="administrator",
        query={"action": "DELETION", "from": "2026-11-01", "to": "2026-11-30"},
        answer={
            "results": [
                {
                    "id": 901,
                    "at": "2026-11-20T03:30:00+00:00",
                    "actorId": 3,
                    "action": "DELETION",
                    "targetType": "board.Post",
                    "targetId": "58",
                    "text": "Deleted. Case 601.",
                    "requestId": "",
                }
            ],
            "next": None,
        },
        refusal=invalid(
            "action",
            "invalid_choice",
            "This is none of the possible values.",
            caller="administrator",
            query={"action": "READING"},
        ),
    ),
    "downloadLog": Example(
        caller="administrator",
        query={"actor": 3},
        refusal=administrator_required(),
    ),
}
