"""Examples of the inbox."""

from core.api.examples import (
    Example,
    invalid,
    not_found,
    unauthenticated,
    unknown_parameter,
)

ITEM = {
    "id": 701,
    "kind": "CONTENT_HIDDEN",
    "at": "2026-11-20T03:30:00+00:00",
    "count": 1,
    "actor": None,
    "text": (
        "What you wrote was hidden: a comment. Reason: abuse. You can object once, "
        "until 2026-12-20; another moderator decides then."
    ),
    "target": {"type": "COMMENT", "id": 204, "postId": 101},
    "read": False,
}
ANNOUNCED = {
    "id": 702,
    "kind": "ANNOUNCEMENT",
    "at": "2026-11-20T00:30:00+00:00",
    "count": 1,
    "actor": None,
    "text": ("Maintenance\n\nFrom 2 to 2:30 am on 21 November nothing can be changed."),
    "target": {"type": "ANNOUNCEMENT", "id": 811, "postId": None},
    "read": False,
}
SETTINGS = {
    "settings": [
        {"kind": "COMMENT", "inbox": True},
        {"kind": "REPLY", "inbox": True},
        {"kind": "POST_HOT", "inbox": True},
        {"kind": "REPORT_RESOLVED", "inbox": True},
    ]
}
NO_HOT = {"kind": "POST_HOT", "inbox": False}

EXAMPLES = {
    "listInbox": Example(
        answer={"results": [ANNOUNCED, ITEM], "next": None},
        refusal=unknown_parameter("page"),
    ),
    "countInbox": Example(answer={"unread": 2}, refusal=unauthenticated()),
    "readInbox": Example(
        body={"upTo": 701},
        status=204,
        refusal=invalid("ids", "empty", "Must not be empty.", body={"ids": []}),
    ),
    "getInboxSettings": Example(answer=SETTINGS, refusal=unauthenticated()),
    "updateInboxSettings": Example(
        body={"settings": [NO_HOT]},
        answer={
            "settings": [
                NO_HOT if each["kind"] == "POST_HOT" else each
                for each in SETTINGS["settings"]
            ]
        },
        refusal=invalid("settings", "required", "This field is required.", body={}),
    ),
    "deleteInboxItem": Example(
        path={"itemId": 701}, status=204, refusal=not_found(itemId=799)
    ),
}
