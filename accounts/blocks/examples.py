"""Examples of blocks."""

from core.api.examples import Example, invalid, unauthenticated

EXAMPLES = {
    "blockMember": Example(
        path={"memberId": 2},
        status=204,
        refusal=invalid(
            "memberId", "invalid", "Must be another member.", path={"memberId": 1}
        ),
    ),
    "listBlocks": Example(
        answer={
            "count": 1,
            "next": None,
            "previous": None,
            "results": [
                {
                    "id": 2,
                    "displayName": "이준호",
                    "avatar": None,
                    "blockedAt": "2026-11-20T03:30:00+00:00",
                }
            ],
        },
        refusal=unauthenticated(),
    ),
    "unblockMember": Example(
        path={"memberId": 2},
        status=204,
        refusal=unauthenticated(path={"memberId": 2}),
    ),
}
