"""Examples of documents and consents."""

from core.api.examples import (
    Example,
    administrator_required,
    invalid,
    not_found,
    unauthenticated,
    unknown_parameter,
)

TERMS = {
    "id": 801,
    "kind": "COMMUNITY",
    "version": "1.0",
    "locale": "ko",
    "title": "커뮤니티 수칙",
    "body": "서로 존중해요.",
    "effectiveAt": "2026-11-01T00:00:00+00:00",
    "required": False,
}
NEW = {name: value for name, value in TERMS.items() if name != "id"} | {
    "version": "2.0",
    "effectiveAt": "2026-12-01T00:00:00+00:00",
}

EXAMPLES = {
    "listLegalDocuments": Example(
        caller="anonymous", answer=[TERMS], refusal=unknown_parameter("kind")
    ),
    "giveConsent": Example(
        body={"documentId": 801, "accepted": True},
        status=201,
        answer={
            "documentId": 801,
            "kind": "COMMUNITY",
            "version": "1.0",
            "title": "커뮤니티 수칙",
            "accepted": True,
            "at": "2026-11-20T03:30:00+00:00",
        },
        refusal=invalid(
            "documentId",
            "does_not_exist",
            "Not found.",
            body={"documentId": 899, "accepted": True},
        ),
    ),
    "listConsents": Example(
        answer=[
            {
                "documentId": 801,
                "kind": "COMMUNITY",
                "version": "1.0",
                "title": "커뮤니티 수칙",
                "accepted": True,
                "at": "2026-11-20T03:30:00+00:00",
            }
        ],
        refusal=unauthenticated(),
    ),
    "publishDocument": Example(
        caller="administrator",
        body=NEW,
        status=201,
        answer=NEW | {"id": 802},
        refusal=invalid(
            "required",
            "invalid",
            "Consent to marketing is always optional.",
            caller="administrator",
            body=NEW | {"kind": "MARKETING", "required": True},
        ),
    ),
    "getPublishedDocument": Example(
        caller="administrator",
        path={"documentId": 801},
        answer=TERMS,
        refusal=not_found(caller="administrator", documentId=899),
    ),
    "listPublishedDocuments": Example(
        caller="administrator",
        answer={
            "count": 2,
            "next": None,
            "previous": None,
            "results": [NEW | {"id": 802}, TERMS],
        },
        refusal=administrator_required(),
    ),
}
