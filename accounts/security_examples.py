"""Examples of sessions, tokens and second factors."""

from accounts.blocks import examples as blocks
from accounts.errors import CodeInvalidError
from accounts.openapi_examples import MEMBER, NOW, PROVIDER_JWT, TOKEN
from core.api.examples import Call, Example, Refusal, invalid, unauthenticated
from core.errors import DuplicateError, NotFoundError

SESSION_ID = "0b9a6c1e-52f7-4d08-9c3b-7e41d2a85f60"
TOKEN_ID = "d4f1a7b3-08c6-4e59-b1f2-6a93c7e05d18"  # noqa: S105
MISSING_ID = "99999999-9999-4999-8999-999999999999"
SEED = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
TICKET = "p3Xk9VtQ0aLr7ZsWc5YdEu1JfHm8NbGo2RiKq6TxCvM"
TOKEN_FIELDS = {
    "id": TOKEN_ID,
    "name": "현관 태블릿",
    "scopes": ["ledger:read", "notifications:write"],
    "createdAt": NOW,
    "lastUsedAt": None,
    "expiresAt": "2027-02-18T03:30:00+00:00",
}
IDENTITY = {
    "provider": "google",
    "linkedAt": "2026-11-10T03:30:00+00:00",
    "lastUsedAt": "2026-11-19T12:30:00+00:00",
}
RECOVERY_CODES = [
    "AK-3JAX-7QWM-2PLD",
    "CV-Q5RT-XN4E-WB6Y",
    "FH-7KDM-LZ2C-3VSU",
    "GW-ONX6-4TPA-HJ5Q",
    "JB-EY7S-2MRK-DC4L",
    "LQ-W3ZF-UG6N-5XAT",
    "NP-4BVH-QS2J-7KEM",
    "RD-YC5L-3TOX-WA6Z",
    "TU-6FMN-BR7G-2QPV",
    "XS-H4KE-ZD3W-JL5C",
]

EXAMPLES = blocks.EXAMPLES | {
    "createPersonalToken": Example(
        body={
            "name": "현관 태블릿",
            "scopes": ["ledger:read", "notifications:write"],
            "expiresInDays": 90,
        },
        status=201,
        answer=TOKEN_FIELDS
        | {"token": "hlt_7Qm1v0N3xW7cT5kZ2bYhR9fL6sJ4dGpA0uEiOqCnVtM2rAet6"},
        refusal=invalid(
            "expiresInDays",
            "max_value",
            "Must be at most 366.",
            body={"name": "NAS", "scopes": ["ledger:read"], "expiresInDays": 400},
        ),
    ),
    "listPersonalTokens": Example(answer=[TOKEN_FIELDS], refusal=unauthenticated()),
    "listSecurityEvents": Example(
        query={"page": 1},
        answer={
            "count": 1,
            "next": None,
            "previous": None,
            "results": [
                {
                    "id": 8801,
                    "kind": "TOKEN_CREATED",
                    "at": NOW,
                    "byStaff": False,
                    "address": "127.0.0.1",
                    "deviceName": "",
                    "client": "",
                    "detail": "현관 태블릿",
                }
            ],
        },
        refusal=unauthenticated(),
    ),
    "listIdentities": Example(answer=[IDENTITY], refusal=unauthenticated()),
    "createIdentity": Example(
        caller="administrator",
        body={"idToken": PROVIDER_JWT},
        status=201,
        answer=IDENTITY | {"linkedAt": NOW, "lastUsedAt": None},
        refusal=Refusal(
            DuplicateError(),
            Call(body={"idToken": PROVIDER_JWT}),
        ),
    ),
    "deleteIdentity": Example(
        path={"provider": "google"},
        status=204,
        refusal=unauthenticated(path={"provider": "google"}),
    ),
    "deletePersonalToken": Example(
        path={"tokenId": TOKEN_ID},
        status=204,
        refusal=Refusal(NotFoundError(), Call(path={"tokenId": MISSING_ID})),
    ),
    "beginTotp": Example(
        answer={
            "secret": SEED,
            "uri": "otpauth://totp/Household%20Ledger:minji?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
            "&issuer=Household%20Ledger",
            "expiresAt": "2026-11-20T03:40:00+00:00",
        },
        refusal=unauthenticated(),
    ),
    "confirmTotp": Example(
        body={"code": "862996"},
        answer={"recoveryCodes": RECOVERY_CODES},
        refusal=Refusal(CodeInvalidError(), Call(body={"code": "000000"})),
    ),
    "getFactors": Example(
        answer={"totp": True, "totpSince": NOW, "recoveryCodesLeft": 10},
        refusal=unauthenticated(),
    ),
    "renewRecoveryCodes": Example(
        answer={"recoveryCodes": RECOVERY_CODES}, refusal=unauthenticated()
    ),
    "completeLogin": Example(
        caller="anonymous",
        body={"ticket": TICKET, "code": "456062"},
        answer={
            "token": TOKEN,
            "expiresAt": "2026-12-04T03:30:00+00:00",
            "member": MEMBER,
        },
        refusal=Refusal(
            CodeInvalidError(),
            Call(caller="anonymous", body={"ticket": TICKET, "code": "000000"}),
        ),
    ),
    "deleteTotp": Example(status=204, refusal=unauthenticated()),
    "listSessions": Example(
        caller="administrator",
        answer=[
            {
                "id": SESSION_ID,
                "current": True,
                "deviceName": "",
                "client": "",
                "address": None,
                "createdAt": NOW,
                "lastSeenAt": NOW,
                "expiresAt": "2026-12-04T03:30:00+00:00",
            }
        ],
        refusal=unauthenticated(),
    ),
    "endSession": Example(
        caller="administrator",
        path={"sessionId": SESSION_ID},
        status=204,
        refusal=Refusal(
            NotFoundError(),
            Call(caller="administrator", path={"sessionId": MISSING_ID}),
        ),
    ),
}
