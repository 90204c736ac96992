"""Examples of categories."""

from core.api.examples import (
    Call,
    Example,
    Refusal,
    administrator_required,
    duplicate,
    invalid,
    not_found,
    unauthenticated,
)
from core.errors import CategoryHierarchyError, InUseError, InvalidOrderError
from ledger.categories.categories import CATEGORY_NAME_TAKEN
from ledger.categories.defaults import NAME_TAKEN as DEFAULT_TAKEN

FOOD = {
    "id": 21,
    "name": "식비",
    "type": "expense",
    "parentId": None,
    "icon": None,
    "color": None,
    "sortOrder": 1,
    "version": 4,
}
LUNCH = FOOD | {"id": 22, "name": "점심", "parentId": 21}
HOME = FOOD | {"id": 23, "name": "주거", "sortOrder": 2}
RENT = FOOD | {"id": 24, "name": "월세", "parentId": 23}
PAY = FOOD | {"id": 25, "name": "급여", "type": "income"}
NEW_CAFE = {"name": "카페", "type": "expense", "icon": "☕", "color": "#8d6e63"}
CAFE = FOOD | NEW_CAFE | {"id": 26, "sortOrder": 3}
MINOR_CAFE = CAFE | {"name": "커피", "parentId": 21, "sortOrder": 2}

DEFAULT_FOOD = {
    "id": 27,
    "name": "식비",
    "nameEn": "Food",
    "type": "expense",
    "parentId": None,
    "icon": "restaurant",
    "color": "#ef6c00",
    "sortOrder": 1,
}
NEW_DEFAULT = {
    "name": "배달",
    "nameEn": "Delivery",
    "type": "expense",
    "parentId": 27,
    "icon": None,
    "color": None,
}
DEFAULT_DELIVERY = NEW_DEFAULT | {"id": 29, "sortOrder": 2}
DEFAULT_GROCERIES = {
    "id": 28,
    "name": "장보기",
    "nameEn": "Groceries",
    "type": "expense",
    "parentId": 27,
    "icon": None,
    "color": None,
    "sortOrder": 1,
}

EXAMPLES = {
    "createCategory": Example(
        body=NEW_CAFE,
        status=201,
        answer=CAFE,
        refusal=duplicate(
            CATEGORY_NAME_TAKEN, body={"name": "점심", "type": "expense"}
        ),
    ),
    "listCategories": Example(
        query={"type": "expense"},
        answer=[FOOD, LUNCH, HOME, RENT, CAFE],
        refusal=unauthenticated(),
    ),
    "getCategory": Example(
        path={"categoryId": 26}, answer=CAFE, refusal=not_found(categoryId=99)
    ),
    "replaceCategory": Example(
        path={"categoryId": 26},
        body=NEW_CAFE | {"name": "커피"},
        answer=CAFE | {"name": "커피"},
        refusal=Refusal(
            CategoryHierarchyError("The parent has another type."),
            Call(path={"categoryId": 26}, body=NEW_CAFE | {"parentId": 25}),
        ),
    ),
    "updateCategory": Example(
        path={"categoryId": 26},
        body={"parentId": 21},
        answer=MINOR_CAFE,
        refusal=duplicate(
            CATEGORY_NAME_TAKEN, path={"categoryId": 26}, body={"name": "점심"}
        ),
    ),
    "reorderCategories": Example(
        body={"ids": [26, 22]},
        answer=[
            FOOD,
            MINOR_CAFE | {"sortOrder": 1},
            LUNCH | {"sortOrder": 2},
            HOME,
            RENT,
            PAY,
        ],
        refusal=Refusal(InvalidOrderError(), Call(body={"ids": [26]})),
    ),
    "deleteCategory": Example(
        path={"categoryId": 26},
        query={"moveTo": 22},
        status=204,
        refusal=Refusal(
            InUseError("The category is in use. Set `moveTo` to another one."),
            Call(path={"categoryId": 24}),
        ),
    ),
    "createDefaultCategory": Example(
        caller="administrator",
        body=NEW_DEFAULT,
        status=201,
        answer=DEFAULT_DELIVERY,
        refusal=administrator_required(body=NEW_DEFAULT),
    ),
    "listDefaultCategories": Example(
        caller="administrator",
        answer=[DEFAULT_FOOD, DEFAULT_GROCERIES, DEFAULT_DELIVERY],
        refusal=administrator_required(),
    ),
    "getDefaultCategory": Example(
        caller="administrator",
        path={"categoryId": 29},
        answer=DEFAULT_DELIVERY,
        refusal=not_found(categoryId=99, caller="administrator"),
    ),
    "replaceDefaultCategory": Example(
        caller="administrator",
        path={"categoryId": 29},
        body=NEW_DEFAULT | {"nameEn": "Takeaway"},
        answer=DEFAULT_DELIVERY | {"nameEn": "Takeaway"},
        refusal=duplicate(
            DEFAULT_TAKEN,
            caller="administrator",
            path={"categoryId": 29},
            body=NEW_DEFAULT | {"name": "장보기"},
        ),
    ),
    "updateDefaultCategory": Example(
        caller="administrator",
        path={"categoryId": 29},
        body={"nameEn": "Delivery"},
        answer=DEFAULT_DELIVERY,
        refusal=invalid(
            "type",
            "invalid_choice",
            "This is none of the possible values.",
            caller="administrator",
            path={"categoryId": 29},
            body={"type": "both"},
        ),
    ),
    "reorderDefaultCategories": Example(
        caller="administrator",
        body={"ids": [29, 28]},
        answer=[
            DEFAULT_FOOD,
            DEFAULT_DELIVERY | {"sortOrder": 1},
            DEFAULT_GROCERIES | {"sortOrder": 2},
        ],
        refusal=Refusal(
            InvalidOrderError(), Call(caller="administrator", body={"ids": [29]})
        ),
    ),
    "importDefaultCategories": Example(
        body={"language": "ko"},
        answer={"imported": 2, "skipped": 1},
        refusal=invalid(
            "language",
            "invalid_choice",
            "This is none of the possible values.",
            body={"language": "fr"},
        ),
    ),
    "deleteDefaultCategory": Example(
        caller="administrator",
        path={"categoryId": 29},
        status=204,
        refusal=Refusal(
            CategoryHierarchyError("The category has minor categories."),
            Call(caller="administrator", path={"categoryId": 27}),
        ),
    ),
}
