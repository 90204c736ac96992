"""Examples of reports, cases and decisions."""

from datetime import date, timedelta
from typing import Any

from board.errors import SelfReportError
from board.openapi_examples import COMMENT, JUNHO, NOW
from core.api.examples import (
    Call,
    Example,
    Refusal,
    administrator_required,
    invalid,
    not_found,
    unauthenticated,
)
from core.api.permissions import ModeratorRequiredError
from core.errors import NotFoundError

ADMINISTRATOR = {"id": 3, "displayName": "관리자", "avatar": None, "staff": True}
REPORT = {"reason": "ABUSE", "note": "욕설입니다."}
WRONG_REASON = "This is none of the possible values."
CASE: dict[str, Any] = {
    "id": 601,
    "kind": "REPORT",
    "status": "OPEN",
    "reason": "ABUSE",
    "targetType": "COMMENT",
    "targetId": 201,
    "postId": 101,
    "author": JUNHO,
    "title": "",
    "content": COMMENT["content"],
    "reportCount": 1,
    "outsideReportCount": 0,
    "targetGone": None,
    "openedAt": NOW,
    "blindUntil": None,
    "appealed": False,
}
WHOLE_CASE = CASE | {
    "target": {
        "state": "SHOWN",
        "title": "",
        "content": COMMENT["content"],
        "updatedAt": COMMENT["updatedAt"],
    },
    "reports": [
        {
            "id": 602,
            "reason": "ABUSE",
            "note": "욕설입니다.",
            "reporter": ADMINISTRATOR,
            "createdAt": NOW,
        }
    ],
    "outsideReports": [],
    "decisions": [],
    "earlierCases": [],
}
DECISION = {
    "action": "HIDE",
    "reason": "ABUSE",
    "note": "",
    "silenceDays": None,
    "decidedById": 3,
    "automatic": False,
    "final": False,
    "decidedAt": NOW,
    "appeal": None,
    "appealedAt": None,
}
JUDGEMENT = {"action": "HIDE", "reason": "ABUSE"}
SILENCE = {"until": "2026-11-27T03:30:00+00:00", "reason": "반복된 욕설"}


def moderator_required(**call: Any) -> Refusal:
    return Refusal(ModeratorRequiredError(), Call(**call))


def report_example(name: str, number: int, refusal: Refusal) -> Example:
    return Example(path={name: number}, body=REPORT, status=202, refusal=refusal)


FIRST_DAY = date(2026, 10, 22)
QUIET_DAYS = [
    {"day": f"{FIRST_DAY + timedelta(days=n)}", "hidden": 0, "held": 0}
    for n in range(29)
]

EXAMPLES = {
    "getModerationFigures": Example(
        caller="administrator",
        answer={
            "openCases": 1,
            "oldestOpenedAt": NOW,
            "heldPosts": 0,
            "days": [*QUIET_DAYS, {"day": "2026-11-20", "hidden": 1, "held": 0}],
        },
        refusal=administrator_required(),
    ),
    "reportPost": report_example(
        "postId",
        101,
        invalid(
            "reason",
            "invalid_choice",
            WRONG_REASON,
            path={"postId": 101},
            body={"reason": "BORING"},
        ),
    ),
    "withdrawPostReport": Example(
        path={"postId": 101}, status=204, refusal=unauthenticated(path={"postId": 101})
    ),
    "reportComment": report_example(
        "commentId",
        201,
        Refusal(NotFoundError(), Call(path={"commentId": 299}, body=REPORT)),
    ),
    "withdrawCommentReport": Example(
        path={"commentId": 201},
        status=204,
        refusal=unauthenticated(path={"commentId": 201}),
    ),
    "reportMember": report_example(
        "memberId",
        2,
        Refusal(SelfReportError(), Call(path={"memberId": 1}, body=REPORT)),
    ),
    "withdrawMemberReport": Example(
        path={"memberId": 2}, status=204, refusal=unauthenticated(path={"memberId": 2})
    ),
    "getInboxCase": Example(
        path={"itemId": 701},
        answer={
            "action": "HIDE",
            "reason": "ABUSE",
            "decidedAt": NOW,
            "until": None,
            "appealUntil": "2026-12-20T03:30:00+00:00",
            "appeal": None,
            "title": "",
            "content": "이건 좀 아니죠.",
        },
        refusal=not_found(itemId=799),
    ),
    "appealDecision": Example(
        path={"itemId": 701},
        body={"text": "농담이었습니다."},
        status=204,
        refusal=invalid(
            "text",
            "required",
            "This field is required.",
            path={"itemId": 701},
            body={},
        ),
    ),
    "listCases": Example(
        caller="administrator",
        query={"reason": "ABUSE", "kind": "REPORT"},
        answer={"count": 1, "next": None, "previous": None, "results": [CASE]},
        refusal=moderator_required(),
    ),
    "getCase": Example(
        caller="administrator",
        path={"caseId": 601},
        answer=WHOLE_CASE,
        refusal=not_found(caller="administrator", caseId=699),
    ),
    "resolveCase": Example(
        caller="administrator",
        path={"caseId": 601},
        body=JUDGEMENT,
        answer=WHOLE_CASE
        | {
            "status": "RESOLVED",
            "target": WHOLE_CASE["target"] | {"state": "STAFF"},
            "decisions": [DECISION],
        },
        refusal=invalid(
            "reason",
            "required",
            "This field is required.",
            caller="administrator",
            path={"caseId": 601},
            body={"action": "HIDE"},
        ),
    ),
    "hidePost": Example(
        caller="administrator",
        path={"postId": 101},
        body={"reason": "SPAM"},
        status=204,
        refusal=moderator_required(path={"postId": 101}, body={"reason": "SPAM"}),
    ),
    "showPost": Example(
        caller="administrator",
        path={"postId": 101},
        status=204,
        refusal=not_found(caller="administrator", postId=199),
    ),
    "hideComment": Example(
        caller="administrator",
        path={"commentId": 201},
        body={"reason": "SPAM"},
        status=204,
        refusal=not_found(
            caller="administrator", body={"reason": "SPAM"}, commentId=299
        ),
    ),
    "showComment": Example(
        caller="administrator",
        path={"commentId": 201},
        status=204,
        refusal=moderator_required(path={"commentId": 201}),
    ),
    "silenceMember": Example(
        caller="administrator",
        path={"memberId": 2},
        body=SILENCE,
        answer=SILENCE,
        refusal=invalid(
            "until",
            "range",
            "Must be in the future.",
            caller="administrator",
            path={"memberId": 2},
            body=SILENCE | {"until": "2026-11-19T03:30:00+00:00"},
        ),
    ),
    "endSilence": Example(
        caller="administrator",
        path={"memberId": 2},
        status=204,
        refusal=moderator_required(path={"memberId": 2}),
    ),
}
