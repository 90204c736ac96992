"""Examples of billing."""

import hashlib
from functools import partial

from billing.errors import InvalidPurchaseError
from billing.store_notifications import MAX_BODY_BYTES
from core.api.examples import Call, Example, Refusal, unauthenticated
from core.api.exception_handler import PayloadTooLargeError
from core.errors import NotFoundError

PURCHASE = {"productId": "premium_monthly", "purchaseToken": "test-20261120-0001"}
SUBSCRIPTION = {
    "plan": "PREMIUM",
    "planExpiresAt": "2026-12-20T03:30:00+00:00",
    "nextPaymentAt": "2026-12-20T03:30:00+00:00",
    "autoRenew": True,
    "product": "premium_monthly",
}
CANCELLED = SUBSCRIPTION | {"nextPaymentAt": None, "autoRenew": False}
ACCOUNT_UUID = "7f1d1e4e-3f0b-4a53-9d50-6a0a3c5d9b21"
PUSH = {
    "message": {
        "messageId": "136969346945",
        "data": "eyJwYWNrYWdlTmFtZSI6ImV4YW1wbGUubGVkZ2VyIn0=",
    },
    "subscription": "projects/example-ledger/subscriptions/store",
}

by_free_member = partial(Example, caller="free_member")
EXAMPLES = {
    "listProducts": by_free_member(
        answer=[
            {
                "id": "premium_monthly",
                "name": "Premium, monthly",
                "period": "MONTHLY",
                "price": 4_900,
                "currency": "KRW",
            },
            {
                "id": "premium_yearly",
                "name": "Premium, yearly",
                "period": "YEARLY",
                "price": 49_000,
                "currency": "KRW",
            },
        ],
        refusal=unauthenticated(),
    ),
    "verifyPurchase": by_free_member(
        body=PURCHASE,
        answer=SUBSCRIPTION | {"applied": True},
        refusal=Refusal(
            InvalidPurchaseError(),
            Call(caller="free_member", body=PURCHASE | {"purchaseToken": "unknown"}),
        ),
    ),
    "getSubscription": by_free_member(answer=SUBSCRIPTION, refusal=unauthenticated()),
    "getAccountToken": by_free_member(
        answer={
            "googlePlay": hashlib.sha256(ACCOUNT_UUID.encode()).hexdigest(),
            "appStore": ACCOUNT_UUID,
        },
        refusal=unauthenticated(),
    ),
    "cancelSubscription": by_free_member(answer=CANCELLED, refusal=unauthenticated()),
    "resumeSubscription": by_free_member(
        answer=SUBSCRIPTION,
        refusal=Refusal(
            NotFoundError("There is no active subscription to resume."),
            Call(caller="administrator"),
        ),
    ),
    "restoreSubscription": by_free_member(
        answer=SUBSCRIPTION,
        refusal=Refusal(
            NotFoundError("There is no payment to restore."),
            Call(caller="administrator"),
        ),
    ),
    "receiveStoreNotification": Example(
        caller="anonymous",
        body=PUSH,
        answer={"received": True},
        refusal=Refusal(
            PayloadTooLargeError(),
            Call(caller="anonymous", body={"data": "A" * MAX_BODY_BYTES}),
        ),
    ),
}
