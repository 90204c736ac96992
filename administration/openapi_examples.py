"""Examples of the administrators' API."""

from functools import partial
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
    unknown_parameter,
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
    own = Call(caller="administrator", path={"memberId": 3}, **call)
    return Refusal(SelfChangeError(), own)


by_staff = partial(Example, caller="administrator")
EXAMPLES = {
    "getMeta": Example(
        caller="anonymous",
        answer={
            "name": None,
            "version": settings.VERSION,
            "source": None,
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
                "sync": True,
            },
            "limits": to_payload(MetaLimitsSerializer, list_limits()),
            "clients": None,
            "legal": {
                "terms": None,
                "privacy": None,
                "accountDeletion": "https://ledger.example/account/delete",
                "reports": "https://ledger.example/legal/report",
            },
            "support": None,
        },
        refusal=unknown_parameter("version", caller="anonymous"),
    ),
    "createUser": by_staff(
        body=NEW_MEMBER,
        status=201,
        answer=SEOJUN,
        refusal=duplicate(
            "This login id is taken.",
            caller="administrator",
            body=NEW_MEMBER | {"loginId": "minji"},
        ),
    ),
    "listUsers": by_staff(
        query={"page": 2, "size": 3},
        answer={
            "count": 4,
            "next": None,
            "previous": "https://ledger.example/api/users?page=1&size=3",
            "results": [SEOJUN_SUMMARY],
        },
        refusal=administrator_required(),
    ),
    "getUser": by_staff(path={"memberId": 4}, answer=SEOJUN, refusal=MEMBER_NOT_FOUND),
    "updateUser": by_staff(
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
    "deleteUser": by_staff(path={"memberId": 4}, status=204, refusal=change_of_self()),
    "listMembers": by_staff(
        query={"search": "minji", "plan": "PREMIUM"},
        answer={"count": 1, "next": None, "previous": None, "results": [SUMMARY]},
        refusal=administrator_required(),
    ),
    "getMember": by_staff(
        path={"memberId": 1}, answer=MEMBER, refusal=MEMBER_NOT_FOUND
    ),
    "sendPasswordReset": by_staff(
        path={"memberId": 1}, status=202, refusal=MEMBER_NOT_FOUND
    ),
    "setMemberPlan": by_staff(
        path={"memberId": 1},
        body={"plan": "PREMIUM"},
        answer=MEMBER | {"planExpiresAt": None},
        refusal=invalid(
            "plan",
            "invalid_choice",
            "This is none of the possible values.",
            caller="administrator",
            path={"memberId": 1},
            body={"plan": "GOLD"},
        ),
    ),
    "setMemberRole": by_staff(
        path={"memberId": 1},
        body={"role": "MEMBER"},
        answer=MEMBER | {"planExpiresAt": None},
        refusal=change_of_self(body={"role": "MEMBER"}),
    ),
    "setMemberStatus": by_staff(
        path={"memberId": 1},
        body={"status": "SUSPENDED"},
        answer=MEMBER | {"planExpiresAt": None, "status": "SUSPENDED"},
        refusal=change_of_self(body={"status": "SUSPENDED"}),
    ),
    "endMemberFactors": by_staff(
        path={"memberId": 2}, status=204, refusal=change_of_self()
    ),
    "deleteMember": by_staff(
        path={"memberId": 1}, status=204, refusal=change_of_self()
    ),
    "getSignupSetting": by_staff(
        answer={"enabled": True}, refusal=administrator_required(caller="free_member")
    ),
    "updateSignupSetting": by_staff(
        body={"enabled": False},
        answer={"enabled": False},
        refusal=administrator_required(caller="free_member", body={"enabled": False}),
    ),
    # It comes last, because it ends the session of a caller.
    "endMemberSessions": by_staff(
        path={"memberId": 2}, status=204, refusal=change_of_self()
    ),
}
