"""Examples of announcements."""

from core.api.examples import (
    Example,
    administrator_required,
    invalid,
    not_found,
    unknown_parameter,
)

ANNOUNCEMENT = {
    "id": 811,
    "title": {"ko": "정기 점검", "en": "Maintenance"},
    "text": {
        "ko": "11월 21일 새벽 2시부터 30분 동안 점검해요.",
        "en": "From 2 to 2:30 am on 21 November nothing can be changed.",
    },
    "level": "WARNING",
    "audience": "ALL",
    "from": "2026-11-20T00:30:00+00:00",
    "until": "2026-11-21T00:30:00+00:00",
}
BODY = {name: value for name, value in ANNOUNCEMENT.items() if name != "id"}
NEW = BODY | {
    "title": {"ko": "새 기능", "en": "A new feature"},
    "text": {"ko": "태그에 색을 쓸 수 있어요.", "en": "Tags can have colours."},
    "level": "INFO",
}

EXAMPLES = {
    "listAnnouncements": Example(
        caller="anonymous", answer=[ANNOUNCEMENT], refusal=unknown_parameter("level")
    ),
    "createAnnouncement": Example(
        caller="administrator",
        body=NEW,
        status=201,
        answer=NEW | {"id": 812},
        refusal=invalid(
            "title.en",
            "required",
            "This field is required.",
            caller="administrator",
            body=NEW | {"title": {"ko": "새 기능"}},
        ),
    ),
    "listAllAnnouncements": Example(
        caller="administrator",
        answer={
            "count": 2,
            "next": None,
            "previous": None,
            "results": [NEW | {"id": 812}, ANNOUNCEMENT],
        },
        refusal=administrator_required(),
    ),
    "getAnnouncement": Example(
        caller="administrator",
        path={"announcementId": 811},
        answer=ANNOUNCEMENT,
        refusal=not_found(caller="administrator", announcementId=899),
    ),
    "updateAnnouncement": Example(
        caller="administrator",
        path={"announcementId": 811},
        body=BODY | {"level": "CRITICAL"},
        answer=ANNOUNCEMENT | {"level": "CRITICAL"},
        refusal=invalid(
            "until",
            "range",
            "Must be after `from`.",
            caller="administrator",
            path={"announcementId": 811},
            body=BODY | {"until": BODY["from"]},
        ),
    ),
    "deleteAnnouncement": Example(
        caller="administrator",
        path={"announcementId": 811},
        status=204,
        refusal=not_found(caller="administrator", announcementId=899),
    ),
}
