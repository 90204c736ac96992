"""Examples of members and sessions."""

from functools import partial

from accounts.errors import (
    CodeInvalidError,
    InvalidCredentialsError,
    InvalidIdTokenError,
    PasswordMismatchError,
    PasswordUnchangedError,
)
from core.api.examples import (
    Call,
    Example,
    Refusal,
    duplicate,
    invalid,
    not_found,
    unauthenticated,
    unknown_parameter,
)
from core.errors import InvalidImageError

NOW = "2026-11-20T03:30:00+00:00"
TOKEN = "Q8m1v0N3xW7cT5kZ2bYhR9fL6sJ4dGpA0uEiOqCnVtM"  # noqa: S105
# A token for the client id below, valid for an hour; the signature is made up.
PROVIDER_JWT = (
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20iLCJhdWQ"
    "iOiIxMDk2LWxlZGdlci5hcHBzLmdvb2dsZXVzZXJjb250ZW50LmNvbSIsInN1YiI6IjExMyIsImV"
    "4cCI6MTc5NTE0OTAwMH0.c2lnbmF0dXJl"
)
IMAGE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk"
    "YAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
MEMBER = {
    "id": 1,
    "loginId": "minji",
    "displayName": "김민지",
    "email": "minji@example.com",
    "emailVerified": False,
    "pendingEmail": None,
    "locale": "en",
    "provider": "LOCAL",
    "role": "MEMBER",
    "status": "ACTIVE",
    "suspendedUntil": None,
    "suspensionReason": None,
    "silencedUntil": None,
    "silenceReason": None,
    "plan": "PREMIUM",
    "planExpiresAt": "2026-12-20T03:30:00+00:00",
    "planProduct": None,
    "planAutoRenew": False,
    "points": 0,
    "idpPicture": None,
    "createdAt": NOW,
    "profileImage": None,
}
PROFILE = MEMBER | {"secondFactor": False}
NEW_MEMBER = {
    "loginId": "seojun",
    "password": "gyeran-malgi-27",
    "displayName": "박서준",
    "email": "seojun@example.com",
}
SEOJUN = (
    MEMBER
    | {name: NEW_MEMBER[name] for name in ("loginId", "displayName", "email")}
    | {"id": 4, "plan": "FREE", "planExpiresAt": None}
)
SESSION = {"token": TOKEN, "expiresAt": "2026-12-04T03:30:00+00:00", "member": SEOJUN}
PASSWORD = {"password": "gimchi-jjigae-42"}
WRONG_PASSWORD = {"password": "gimchi-jjigae-24"}

CODE = "WDJB-MJHT"
VERIFICATION_ID = "5f0c2b1e-7a4d-4a39-8f25-0f3f9b7d61c4"
RESET_ID = "c7b9e6d2-13f8-4e60-9d0a-6b1f84a5c3e9"
WRONG_CODE = "XXXX-XXXX"
CODE_EXPIRY = "2026-11-20T03:40:00+00:00"

anonymous = partial(Example, caller="anonymous")
EXAMPLES = {
    "getSignupEnabled": anonymous(
        answer={"enabled": True},
        refusal=unknown_parameter("language", caller="anonymous"),
    ),
    "signUp": anonymous(
        body=NEW_MEMBER,
        status=201,
        answer=SESSION,
        refusal=duplicate(
            "This login id is taken.",
            caller="anonymous",
            body=NEW_MEMBER | {"loginId": "minji"},
        ),
    ),
    "logIn": anonymous(
        body={"loginId": "seojun", "password": "gyeran-malgi-27"},
        answer=SESSION,
        refusal=Refusal(
            InvalidCredentialsError(),
            Call(caller="anonymous", body={"loginId": "seojun", "password": "gyeran"}),
        ),
    ),
    "getIdpClientId": anonymous(
        answer={"clientId": "1096-ledger.apps.googleusercontent.com"},
        refusal=unknown_parameter("provider", caller="anonymous"),
    ),
    "logInWithIdp": anonymous(
        body={"idToken": PROVIDER_JWT},
        answer=SESSION
        | {
            "member": SEOJUN
            | {
                "id": 5,
                "loginId": "idp-b0a4ee8a79dfd142",
                "displayName": "최하은",
                "email": "haeun@example.com",
                "provider": "IDP",
                "idpPicture": "https://pictures.example/haeun.png",
            },
            "created": True,
            "linked": False,
        },
        refusal=Refusal(
            InvalidIdTokenError(),
            Call(caller="anonymous", body={"idToken": "eyJhbGciOiJSUzI1NiJ9"}),
        ),
    ),
    "getSession": Example(
        answer={
            name: MEMBER[name]
            for name in (
                "id",
                "loginId",
                "displayName",
                "role",
                "plan",
                "planExpiresAt",
            )
        }
        | {"consentsDue": []},
        refusal=unauthenticated(),
    ),
    "getProfile": Example(answer=PROFILE, refusal=unauthenticated()),
    "updateProfile": Example(
        body={"displayName": "민지", "email": "minji.kim@example.com"},
        answer=PROFILE | {"displayName": "민지", "email": "minji.kim@example.com"},
        refusal=invalid(
            "email", "invalid", "Enter a valid email address.", body={"email": "minji"}
        ),
    ),
    "requestEmailVerification": Example(
        status=202,
        answer={
            "requestId": "8e2f4d7a-90b3-4c1f-a6de-2c57b0d9f183",
            "expiresAt": CODE_EXPIRY,
            "resendAfter": "2026-11-20T03:31:00+00:00",
        },
        refusal=unauthenticated(),
    ),
    "confirmEmailVerification": anonymous(
        body={"requestId": VERIFICATION_ID, "code": CODE},
        status=204,
        refusal=Refusal(
            CodeInvalidError(),
            Call(
                caller="anonymous",
                body={"requestId": VERIFICATION_ID, "code": WRONG_CODE},
            ),
        ),
    ),
    "requestPasswordReset": anonymous(
        body={"loginId": "minji"},
        status=202,
        answer={
            "requestId": "b3a60f5c-4d12-4f7e-8c99-71e0d2a8b645",
            "expiresAt": CODE_EXPIRY,
        },
        refusal=invalid(
            "body",
            "invalid",
            "Send either a login id or an email address.",
            caller="anonymous",
            body={},
        ),
    ),
    "confirmPasswordReset": anonymous(
        body={"requestId": RESET_ID, "code": CODE, "newPassword": "sundubu-jjigae-44"},
        status=204,
        refusal=Refusal(
            CodeInvalidError(),
            Call(
                caller="anonymous",
                body={
                    "requestId": RESET_ID,
                    "code": WRONG_CODE,
                    "newPassword": "sundubu-jjigae-44",
                },
            ),
        ),
    ),
    "setProfileImage": Example(
        body={"profileImage": IMAGE},
        answer=PROFILE
        | {
            "displayName": "민지",
            "email": "minji.kim@example.com",
            "profileImage": IMAGE,
        },
        refusal=Refusal(
            InvalidImageError(),
            Call(body={"profileImage": "data:image/png;base64,AAAA"}),
        ),
    ),
    "getAvatar": anonymous(
        path={"memberId": 1}, refusal=not_found(memberId=9, caller="anonymous")
    ),
    "getPoints": Example(
        answer={
            "points": 0,
            "pointsPerAward": 10,
            "dailyAwardLimit": 3,
            "awardsToday": 1,
            "history": {
                "count": 1,
                "next": None,
                "previous": None,
                "results": [
                    {"id": 401, "points": 10, "reason": "POST", "createdAt": NOW}
                ],
            },
        },
        refusal=unauthenticated(),
    ),
    "verifyPassword": Example(
        body=PASSWORD,
        answer={"verified": True},
        refusal=Refusal(PasswordMismatchError(), Call(body=WRONG_PASSWORD)),
    ),
    "reauthenticateSession": Example(
        body=PASSWORD,
        answer={"freshUntil": "2026-11-20T03:40:00+00:00"},
        refusal=Refusal(PasswordMismatchError(), Call(body=WRONG_PASSWORD)),
    ),
    "changePassword": Example(
        body={
            "currentPassword": "gimchi-jjigae-42",
            "newPassword": "doenjang-jjigae-43",
        },
        status=204,
        refusal=Refusal(
            PasswordUnchangedError(),
            Call(
                body={
                    "currentPassword": "gimchi-jjigae-42",
                    "newPassword": "gimchi-jjigae-42",
                }
            ),
        ),
    ),
    "endOtherSessions": Example(answer={"ended": 0}, refusal=unauthenticated()),
    "logOut": Example(status=204, refusal=unauthenticated()),
    "deleteAccount": Example(
        caller="free_member", status=204, refusal=unauthenticated()
    ),
}
