"""Examples of tags and quick entries."""

from core.api.examples import (
    Call,
    Example,
    Refusal,
    duplicate,
    invalid,
    not_found,
    premium_required,
    unauthenticated,
)
from core.errors import InvalidOrderError
from ledger.tags.tags import TAG_NAME_TAKEN

NO_LOOK = {"icon": None, "color": None}
COMPANY = {"id": 31, "name": "회사", "sortOrder": 1, "version": 21, **NO_LOOK}
WEEKEND = {"id": 32, "name": "주말", "sortOrder": 2, "version": 22, **NO_LOOK}
TRIP = {"id": 33, "name": "여행", "sortOrder": 3, "version": 58, **NO_LOOK}

COFFEE = {
    "id": 51,
    "name": "아메리카노",
    "type": "expense",
    "amount": 4_500,
    "category": "식비",
    "categoryId": 21,
    "categoryType": "expense",
    "walletId": 12,
    "toWalletId": None,
    "toWallet": None,
    "lines": [],
    "memo": "회사 앞 카페",
    "tags": ["회사"],
    "sortOrder": 1,
    "version": 30,
}
NEW_BUS = {
    "name": "지하철",
    "type": "expense",
    "amount": 1_550,
    "category": "교통",
    "memo": "출근",
    "tags": [],
}
BUS = COFFEE | NEW_BUS | {"id": 52, "categoryId": 30, "walletId": None, "sortOrder": 2}

EXAMPLES = {
    "createTag": Example(
        body={"name": "여행"},
        status=201,
        answer=TRIP,
        refusal=duplicate(TAG_NAME_TAKEN, body={"name": "회사"}),
    ),
    "listTags": Example(
        answer=[COMPANY, WEEKEND, TRIP],
        refusal=premium_required(),
    ),
    "getTag": Example(path={"tagId": 33}, answer=TRIP, refusal=not_found(tagId=39)),
    "replaceTag": Example(
        path={"tagId": 33},
        body={"name": "휴가"},
        answer=TRIP | {"name": "휴가"},
        refusal=invalid(
            "name",
            "comma",
            "A tag name cannot contain commas.",
            path={"tagId": 33},
            body={"name": "여행,휴가"},
        ),
    ),
    "updateTag": Example(
        path={"tagId": 33},
        body={"name": "여행"},
        answer=TRIP,
        refusal=duplicate(TAG_NAME_TAKEN, path={"tagId": 33}, body={"name": "회사"}),
    ),
    "reorderTags": Example(
        body={"ids": [33, 31, 32]},
        answer=[
            TRIP | {"sortOrder": 1},
            COMPANY | {"sortOrder": 2},
            WEEKEND | {"sortOrder": 3},
        ],
        refusal=Refusal(InvalidOrderError(), Call(body={"ids": [33]})),
    ),
    "deleteTag": Example(path={"tagId": 33}, status=204, refusal=not_found(tagId=39)),
    "createQuickEntry": Example(
        body=NEW_BUS,
        status=201,
        answer=BUS,
        refusal=invalid(
            "type",
            "invalid_choice",
            "This is none of the possible values.",
            body=NEW_BUS | {"type": "loan"},
        ),
    ),
    "listQuickEntries": Example(answer=[COFFEE, BUS], refusal=unauthenticated()),
    "getQuickEntry": Example(
        path={"quickEntryId": 52}, answer=BUS, refusal=not_found(quickEntryId=59)
    ),
    "replaceQuickEntry": Example(
        path={"quickEntryId": 52},
        body=NEW_BUS | {"walletId": 12},
        answer=BUS | {"walletId": 12},
        refusal=invalid(
            "amount",
            "min_value",
            "Must be at least 1.",
            path={"quickEntryId": 52},
            body=NEW_BUS | {"amount": 0},
        ),
    ),
    "updateQuickEntry": Example(
        path={"quickEntryId": 52},
        body={"amount": None},
        answer=BUS | {"walletId": 12, "amount": None},
        refusal=not_found(quickEntryId=59, body={"amount": None}),
    ),
    "reorderQuickEntries": Example(
        body={"ids": [52, 51]},
        answer=[
            BUS | {"walletId": 12, "amount": None, "sortOrder": 1},
            COFFEE | {"sortOrder": 2},
        ],
        refusal=Refusal(InvalidOrderError(), Call(body={"ids": [52]})),
    ),
    "deleteQuickEntry": Example(
        path={"quickEntryId": 52}, status=204, refusal=not_found(quickEntryId=59)
    ),
}
