"""Examples of the administrators' API."""

from functools import partial
from typing import Any

from django.conf import settings

from accounts.errors import SelfChangeError
from accounts.openapi_examples import MEMBER, NEW_MEMBER, NOW, SEOJUN
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
from core.api.serializers import to_camel_case, to_payload
from core.errors import NotFoundError
from ledger.base.row_counts import COUNTED

MEMBER_NOT_FOUND = Refusal(
    NotFoundError("Member not found."),
    Call(caller="administrator", path={"memberId": 9}),
)
SUMMARY = {name: value for name, value in MEMBER.items() if name != "profileImage"}
SEOJUN_SUMMARY = {name: SEOJUN[name] for name in SUMMARY}

SWITCHES = {
    "signup": True,
    "posting": True,
    "images": True,
    "identityProviders": True,
    "readOnly": False,
}
JUNHO = SUMMARY | {
    "id": 2,
    "loginId": "junho",
    "displayName": "이준호",
    "email": "junho@example.com",
    "plan": "FREE",
    "planExpiresAt": None,
}
SUPPORT = {
    "member": JUNHO,
    "factors": {"totp": True, "totpSince": NOW, "recoveryCodesLeft": 0},
    "identities": [],
    "sessions": [
        {
            "deviceName": "",
            "client": "",
            "address": None,
            "createdAt": NOW,
            "lastSeenAt": NOW,
            "expiresAt": "2026-12-04T03:30:00+00:00",
        }
    ],
    "tokens": [],
    "consents": [],
    "purchases": [],
    "staffActions": [
        {
            "at": NOW,
            "actorId": 3,
            "action": "READ",
            "text": "Support view. Reason: lost phone",
        }
    ],
    "ledgerRows": dict.fromkeys(map(to_camel_case, COUNTED), 0),
    "securityEvents": [
        {
            "id": 8803,
            "kind": "SUPPORT_VIEWED",
            "at": NOW,
            "byStaff": True,
            "address": None,
            "deviceName": "",
            "client": "",
            "detail": "",
        }
    ],
}


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
                "posting": True,
                "images": True,
                "readOnly": False,
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
                "imports": True,
                "cardBills": True,
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
    "getMemberSupport": by_staff(
        path={"memberId": 2},
        query={"reason": "lost phone"},
        answer=SUPPORT,
        refusal=invalid(
            "reason",
            "required",
            "This field is required.",
            caller="administrator",
            path={"memberId": 2},
        ),
    ),
    "changeMembers": by_staff(
        body={
            "ids": [2, 3, 9],
            "action": "SILENCE",
            "reason": "spam",
            "until": "2027-01-01T00:00:00+09:00",
        },
        answer={
            "results": [
                {"id": 2, "done": True, "code": None, "detail": None},
                {
                    "id": 3,
                    "done": False,
                    "code": "SELF_CHANGE",
                    "detail": str(SelfChangeError.detail),
                },
                {
                    "id": 9,
                    "done": False,
                    "code": "NOT_FOUND",
                    "detail": "Member not found.",
                },
            ]
        },
        refusal=invalid(
            "until",
            "required",
            "A silence needs an end.",
            caller="administrator",
            body={"ids": [2], "action": "SILENCE", "reason": "spam"},
        ),
    ),
    "endMemberFactors": by_staff(
        path={"memberId": 2}, status=204, refusal=change_of_self()
    ),
    "deleteMember": by_staff(
        path={"memberId": 1}, status=204, refusal=change_of_self()
    ),
    "getSwitches": by_staff(
        answer=SWITCHES, refusal=administrator_required(caller="free_member")
    ),
    "updateSwitches": by_staff(
        body=SWITCHES | {"posting": False},
        answer=SWITCHES | {"posting": False},
        refusal=invalid(
            "images",
            "invalid",
            "Must be true or false.",
            caller="administrator",
            body=SWITCHES | {"images": "off"},
        ),
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
