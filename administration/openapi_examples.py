"""Examples of the administrators' API in the OpenAPI document."""

from typing import Any

from django.conf import settings

from accounts.errors import SelfChangeError
from accounts.openapi_examples import MEMBER, NEW_MEMBER, SEOJUN
from administration.meta import list_limits
from administration.meta_serializers import MetaLimitsSerializer
from core.api.examples import (
    Call,
    Example,
    Refusal,
    administrator_required,
    duplicate,
    invalid,
    not_acceptable,
)
from core.api.serializers import to_payload
from core.errors import NotFoundError

MEMBER_NOT_FOUND = Refusal(
    NotFoundError("Member not found."),
    Call(caller="administrator", path={"memberId": 9}),
)
SUMMARY = {name: value for name, value in MEMBER.items() if name != "profileImage"}
SEOJUN_SUMMARY = {name: SEOJUN[name] for name in SUMMARY}


def change_of_self(**call: Any) -> Refusal:
    """Return the refusal of a change of the caller's own account."""
    own = Call(caller="administrator", path={"memberId": 3}, **call)
    return Refusal(SelfChangeError(), own)


EXAMPLES = {
    "getMeta": Example(
        caller="anonymous",
        answer={
            "name": None,
            "version": settings.VERSION,
            "languages": ["en", "ko"],
            "homeCurrency": "KRW",
            "timeZone": "Asia/Seoul",
            "features": {
                "signup": True,
                "providers": ["google"],
                "stores": [],
                "testBilling": True,
                "ocr": True,
                "mail": True,
                "push": False,
                "passkeys": False,
                "secondFactor": True,
                "tokens": True,
                "webhooks": False,
                "bankTexts": True,
            },
            "limits": to_payload(MetaLimitsSerializer, list_limits()),
            "clients": None,
            "legal": None,
            "support": None,
        },
        refusal=not_acceptable(),
    ),
    "createUser": Example(
        caller="administrator",
        body=NEW_MEMBER,
        status=201,
        answer=SEOJUN,
        refusal=duplicate(
            "This login id is taken.",
            caller="administrator",
            body=NEW_MEMBER | {"loginId": "minji"},
        ),
    ),
    "listUsers": Example(
        caller="administrator",
        query={"page": 2, "size": 3},
        answer={
            "count": 4,
            "next": None,
            "previous": "https://ledger.example/api/users?page=1&size=3",
            "results": [SEOJUN_SUMMARY],
        },
        refusal=administrator_required(),
    ),
    "getUser": Example(
        caller="administrator",
        path={"memberId": 4},
        answer=SEOJUN,
        refusal=MEMBER_NOT_FOUND,
    ),
    "updateUser": Example(
        caller="administrator",
        path={"memberId": 4},
        body={"displayName": "서준"},
        answer=SEOJUN | {"displayName": "서준"},
        refusal=invalid(
            "email",
            "invalid",
            "Enter a valid email address.",
            caller="administrator",
            path={"memberId": 4},
            body={"email": "seojun"},
        ),
    ),
    "deleteUser": Example(
        caller="administrator",
        path={"memberId": 4},
        status=204,
        refusal=change_of_self(),
    ),
    "listMembers": Example(
        caller="administrator",
        query={"search": "minji", "plan": "PREMIUM"},
        answer={"count": 1, "next": None, "previous": None, "results": [SUMMARY]},
        refusal=administrator_required(),
    ),
    "getMember": Example(
        caller="administrator",
        path={"memberId": 1},
        answer=MEMBER,
        refusal=MEMBER_NOT_FOUND,
    ),
    "sendPasswordReset": Example(
        caller="administrator",
        path={"memberId": 1},
        status=202,
        refusal=MEMBER_NOT_FOUND,
    ),
    "setMemberPlan": Example(
        caller="administrator",
        path={"memberId": 1},
        body={"plan": "PREMIUM"},
        answer=MEMBER | {"planExpiresAt": None},
        refusal=invalid(
            "plan",
            "invalid_choice",
            '"GOLD" is not a valid choice.',
            caller="administrator",
            path={"memberId": 1},
            body={"plan": "GOLD"},
        ),
    ),
    "setMemberRole": Example(
        caller="administrator",
        path={"memberId": 1},
        body={"role": "MEMBER"},
        answer=MEMBER | {"planExpiresAt": None},
        refusal=change_of_self(body={"role": "MEMBER"}),
    ),
    "setMemberStatus": Example(
        caller="administrator",
        path={"memberId": 1},
        body={"status": "SUSPENDED"},
        answer=MEMBER | {"planExpiresAt": None, "status": "SUSPENDED"},
        refusal=change_of_self(body={"status": "SUSPENDED"}),
    ),
    "endMemberFactors": Example(
        caller="administrator",
        path={"memberId": 2},
        status=204,
        refusal=change_of_self(),
    ),
    "deleteMember": Example(
        caller="administrator",
        path={"memberId": 1},
        status=204,
        refusal=change_of_self(),
    ),
    "getSignupSetting": Example(
        caller="administrator",
        answer={"enabled": True},
        refusal=administrator_required(caller="free_member"),
    ),
    "updateSignupSetting": Example(
        caller="administrator",
        body={"enabled": False},
        answer={"enabled": False},
        refusal=administrator_required(caller="free_member", body={"enabled": False}),
    ),
    # At the end: it takes the session of a caller.
    "endMemberSessions": Example(
        caller="administrator",
        path={"memberId": 2},
        status=204,
        refusal=change_of_self(),
    ),
}
