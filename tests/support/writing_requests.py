"""A request for each route that writes; `@wallet` is the id of the row of that name."""

from typing import Any

from tests.support.factories import PASSWORD

A, B, M = "/api/account", "/api/board", "/api/moderation"
ENTRY = {"date": "2026-11-21", "type": "expense", "amount": 5}
NEW = {"type": "expense", "amount": 5, "name": "New"}
RULE = {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}
NAMES = {"category": "New", "tags": ["old", "new"], "walletId": "@wallet"}
TRADE = {"stockId": "@stock", "side": "BUY", "date": "2026-11-21"}
POST = {"title": "Title", "content": "<p>Words</p>", "category": "tips"}
TO_TARGET = {"amount": 3, "walletId": "@target"}
ANNOUNCEMENT = {
    "title": {"ko": "제목", "en": "Title"},
    "text": {"ko": "글", "en": "Words"},
    "until": "2099-01-01T00:00:00Z",
}
VALUE = {"date": "2026-11-21", "value": 5}
# Method, path and body of a request for each route that writes. `@wallet` is the id of
# the row of that name.
REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", f"{A}/wallets", {"name": "New", "kind": "CASH"}),
    (
        "PUT",
        f"{A}/wallets/reorder",
        {"ids": ["@target", "@wallet", "@pension", "@card"]},
    ),
    ("PUT", f"{A}/wallets/@wallet", {"name": "New", "kind": "CASH"}),
    ("PATCH", f"{A}/wallets/@wallet", {"name": "New"}),
    ("DELETE", f"{A}/wallets/@wallet?moveTo=@target", None),
    (
        "POST",
        f"{A}/wallets/@wallet/reconcile",
        {"date": "2026-11-21", "balance": 5},
    ),
    ("POST", f"{A}/wallets/@pension/valuations", VALUE),
    ("DELETE", f"{A}/wallets/@pension/valuations?date=2026-01-01", None),
    ("PUT", f"{A}/wallets/@card/card", {"closingDay": 13, "paymentDay": 27}),
    ("DELETE", f"{A}/wallets/@card/card", None),
    ("PUT", f"{A}/wallets/@card/bills/@month", {"amount": 5}),
    ("DELETE", f"{A}/wallets/@card/bills/@month", None),
    ("POST", f"{A}/wallets/@card/bills/@month/pay", {"walletId": "@target"}),
    ("PUT", f"{A}/entries/@plan/parts", {"amounts": None}),
    ("POST", f"{A}/entries", ENTRY),
    ("POST", f"{A}/entries", ENTRY | NAMES),
    ("PUT", f"{A}/entries/@entry", ENTRY | NAMES),
    ("PATCH", f"{A}/entries/@entry", NAMES),
    ("DELETE", f"{A}/entries/@entry", None),
    ("POST", f"{A}/entries/@entry/confirm", {}),
    (
        "POST",
        f"{A}/entries",
        ENTRY | {"type": "transfer", "walletId": "@wallet", "toWalletId": "@target"},
    ),
    (
        "POST",
        f"{A}/entries",
        ENTRY
        | {"walletId": "@wallet"}
        | {"lines": [{"amount": 2, "category": "New"}, TO_TARGET]},
    ),
    (
        "POST",
        f"{A}/entries/batch",
        {
            "operations": [
                {"op": "create", "entry": ENTRY | NAMES},
                {"op": "update", "id": "@expense", "entry": NAMES},
                {"op": "delete", "id": "@entry"},
            ]
        },
    ),
    (
        "PATCH",
        f"{A}/entries",
        {"ids": ["@entry", "@expense"], "set": {"category": "New"}}
        | {"addTags": ["new"]},
    ),
    ("POST", f"{A}/entries/@expense/refund", {"amount": 1}),
    ("POST", f"{A}/entries/@expense/merge", {"with": "@income"}),
    ("POST", f"{A}/entries/@merged/unmerge", None),
    (
        "POST",
        f"{A}/entries/transfer-candidates/dismiss",
        {"outId": "@expense", "inId": "@income"},
    ),
    (
        "POST",
        f"{A}/entries/notification",
        {"text": "신한카드(1309)승인 4,800원 11/10 08:31 바람커피"},
    ),
    ("POST", f"{A}/entries/notification/@text/book", {"corrections": NAMES}),
    ("PATCH", f"{A}/entries/notification-settings", {"captureBankTexts": True}),
    (
        "POST",
        f"{A}/entries/layouts",
        {"text": "새봄전자 복지 8,000원 알림", "kind": "approval"}
        | {"slots": {"amount": {"start": 8, "end": 13}}},
    ),
    ("DELETE", f"{A}/entries/layouts/@layout", None),
    ("PATCH", f"{A}/imports/@import", {"balances": True}),
    ("PATCH", f"{A}/imports/@import/rows", [{"row": 2, "action": "SKIP"}]),
    ("POST", f"{A}/imports/@import/commit", None),
    ("DELETE", f"{A}/imports/@import", None),
    ("POST", f"{A}/operations/@operation/undo", {}),
    ("POST", f"{A}/categories", {"name": "New", "type": "expense"}),
    ("POST", f"{A}/categories/import", {}),
    ("PUT", f"{A}/categories/reorder", {"ids": ["@into", "@category"]}),
    ("PUT", f"{A}/categories/@category", {"name": "New", "type": "expense"}),
    ("PATCH", f"{A}/categories/@category", {"name": "New"}),
    ("DELETE", f"{A}/categories/@category?moveTo=@into", None),
    ("POST", f"{A}/tags", {"name": "New"}),
    ("PUT", f"{A}/tags/reorder", {"ids": ["@tag"]}),
    ("PUT", f"{A}/tags/@tag", {"name": "New"}),
    ("PATCH", f"{A}/tags/@tag", {"name": "New"}),
    ("DELETE", f"{A}/tags/@tag", None),
    ("POST", f"{A}/quick-entries", NEW | NAMES),
    ("PUT", f"{A}/quick-entries/reorder", {"ids": ["@quick"]}),
    ("PUT", f"{A}/quick-entries/@quick", NEW | NAMES),
    ("PATCH", f"{A}/quick-entries/@quick", NAMES),
    ("DELETE", f"{A}/quick-entries/@quick", None),
    ("POST", f"{A}/recurring", NEW | NAMES | RULE),
    ("PUT", f"{A}/recurring/@rule", NEW | NAMES | RULE),
    ("PATCH", f"{A}/recurring/@rule", NAMES | {"interval": 2}),
    ("POST", f"{A}/recurring/@rule/run", {}),
    ("DELETE", f"{A}/recurring/@rule", None),
    (
        "POST",
        f"{A}/budgets",
        {"category": "New", "year": 2026, "month": 11, "amount": 5},
    ),
    (
        "POST",
        f"{A}/budgets/copy",
        {"fromYear": 2026, "fromMonth": 11, "toYear": 2026, "toMonth": 12},
    ),
    ("PUT", f"{A}/budgets/income", {"year": 2026, "month": 11, "amount": 5}),
    (
        "PUT",
        f"{A}/budgets/@budget",
        {"category": "New", "year": 2026, "month": 11, "amount": 5},
    ),
    ("PATCH", f"{A}/budgets/@budget", {"category": "New"}),
    ("DELETE", f"{A}/budgets/@budget", None),
    ("POST", f"{A}/stocks", {"code": "NEW", "name": "New"}),
    ("PUT", f"{A}/stocks/reorder", {"ids": ["@other_stock", "@stock"]}),
    ("PUT", f"{A}/stocks/@stock", {"code": "NEW", "name": "New"}),
    ("PATCH", f"{A}/stocks/@stock", {"code": "NEW"}),
    ("DELETE", f"{A}/stocks/@other_stock", None),
    ("POST", f"{A}/trades", TRADE | {"quantity": 1, "price": 1}),
    ("PUT", f"{A}/trades/@trade", TRADE | {"quantity": 1, "price": 1}),
    ("PATCH", f"{A}/trades/@trade", {"stockId": "@other_stock"}),
    ("DELETE", f"{A}/trades/@trade", None),
    ("PUT", "/api/members/@other/block", None),
    ("DELETE", "/api/members/@other/block", None),
    ("POST", f"{B}/posts/@post/report", {"reason": "SPAM"}),
    ("DELETE", f"{B}/posts/@post/report", None),
    ("POST", f"{B}/comments/@comment/report", {"reason": "SPAM"}),
    ("DELETE", f"{B}/comments/@comment/report", None),
    ("POST", "/api/members/@other/report", {"reason": "SPAM"}),
    ("DELETE", "/api/members/@other/report", None),
    ("POST", f"{M}/cases/@case/resolve", {"action": "DISMISS"}),
    ("POST", f"{M}/posts/@post/hide", {"reason": "SPAM"}),
    ("POST", f"{M}/posts/@post/show", None),
    ("POST", f"{M}/comments/@comment/hide", {"reason": "SPAM"}),
    ("POST", f"{M}/comments/@comment/show", None),
    (
        "PUT",
        f"{M}/members/@other/silence",
        {"until": "2100-01-01T00:00:00Z", "reason": "Words"},
    ),
    ("DELETE", f"{M}/members/@other/silence", None),
    ("POST", "/api/auth/consents", {"documentId": "@document", "accepted": True}),
    (
        "POST",
        "/api/admin/documents",
        {
            "kind": "TERMS",
            "version": "2",
            "locale": "en",
            "title": "Terms",
            "body": "Words",
            "effectiveAt": "2026-01-01T00:00:00Z",
            "required": False,
        },
    ),
    ("POST", "/api/inbox/read", {"upTo": 1}),
    ("PUT", "/api/inbox/settings", {"settings": [{"kind": "REPLY", "inbox": False}]}),
    ("POST", "/api/inbox/@item/appeal", {"text": "Words"}),
    ("DELETE", "/api/inbox/@item", None),
    ("POST", f"{B}/posts", POST),
    ("PUT", f"{B}/posts/@own_post", POST),
    ("PATCH", f"{B}/posts/@own_post", {"category": "saving", "content": "<p>a</p>"}),
    ("DELETE", f"{B}/posts/@own_post", None),
    ("DELETE", f"{B}/posts/@post", None),
    ("POST", f"{B}/posts/@post/comments", {"content": "Words"}),
    (
        "POST",
        f"{B}/posts/@own_post/comments",
        {"content": "Words", "parentId": "@comment"},
    ),
    ("POST", f"{B}/posts/@post/vote", {"value": "up"}),
    ("POST", f"{B}/posts/@post/notice", None),
    ("POST", f"{B}/posts/@post/unnotice", None),
    ("PUT", f"{B}/comments/@own_comment", {"content": "Words"}),
    ("DELETE", f"{B}/comments/@own_comment", None),
    ("DELETE", f"{B}/comments/@comment", None),
    ("POST", f"{B}/comments/@comment/vote", {"value": "down"}),
    (
        "POST",
        "/api/billing/store/verify",
        {"productId": "premium_monthly", "purchaseToken": "test-1"},
    ),
    ("POST", "/api/billing/cancel", None),
    ("POST", "/api/billing/resume", None),
    ("POST", "/api/billing/restore", None),
    ("POST", "/api/billing/store/rtdn", {}),
    ("PUT", "/api/auth/profile", {"displayName": "New"}),
    ("PUT", "/api/auth/profile-image", {"profileImage": ""}),
    ("POST", "/api/auth/verify-password", {"password": PASSWORD}),
    (
        "PUT",
        "/api/auth/password",
        {"currentPassword": PASSWORD, "newPassword": "another-horse-9"},
    ),
    ("POST", "/api/auth/login", {"loginId": "actor", "password": PASSWORD}),
    (
        "POST",
        "/api/auth/signup",
        {
            "loginId": "newcomer",
            "password": PASSWORD,
            "displayName": "New",
            "email": "new@example.com",
        },
    ),
    ("POST", "/api/auth/logout", None),
    ("POST", "/api/auth/sessions/end-others", None),
    ("DELETE", "/api/auth/sessions/@session", None),
    ("POST", "/api/auth/reauthenticate", {"password": PASSWORD}),
    ("POST", "/api/auth/tokens", {"name": "New", "scopes": ["board:read"]}),
    ("DELETE", "/api/auth/tokens/@token", None),
    ("DELETE", "/api/auth/identities/@provider", None),
    ("POST", "/api/auth/factors/totp", None),
    ("POST", "/api/auth/email/verification", {}),
    ("POST", "/api/auth/password-reset", {"loginId": "actor"}),
    ("DELETE", "/api/auth/me", None),
    (
        "POST",
        "/api/users",
        {
            "loginId": "newcomer",
            "password": PASSWORD,
            "displayName": "New",
            "email": "new@example.com",
        },
    ),
    ("PUT", "/api/users/@other", {"displayName": "New"}),
    ("DELETE", "/api/users/@other", None),
    ("DELETE", "/api/admin/members/@other", None),
    ("PUT", "/api/admin/members/@other/role", {"role": "ADMIN"}),
    ("PUT", "/api/admin/members/@other/status", {"status": "SUSPENDED"}),
    ("PUT", "/api/admin/members/@other/plan", {"plan": "FREE"}),
    ("POST", "/api/admin/members/@other/password-reset", None),
    ("DELETE", "/api/admin/members/@other/factors", None),
    ("DELETE", "/api/admin/members/@other/sessions", None),
    (
        "POST",
        "/api/admin/members/bulk",
        {"ids": ["@other"], "action": "SUSPEND", "reason": "spam"},
    ),
    ("PUT", "/api/admin/signup-enabled", {"enabled": False}),
    (
        "PUT",
        "/api/admin/switches",
        {"signup": False, "posting": False, "images": False}
        | {"identityProviders": False, "readOnly": False},
    ),
    ("POST", "/api/admin/announcements", ANNOUNCEMENT),
    ("PUT", "/api/admin/announcements/@announcement", ANNOUNCEMENT),
    ("DELETE", "/api/admin/announcements/@announcement", None),
    ("POST", "/api/admin/default-categories", {"name": "New", "type": "expense"}),
    ("PUT", "/api/admin/default-categories/@default", {"name": "N", "type": "expense"}),
    ("PATCH", "/api/admin/default-categories/@default", {"name": "N"}),
    ("DELETE", "/api/admin/default-categories/@default", None),
    ("PUT", "/api/admin/default-categories/reorder", {"ids": "@defaults"}),
]
# Routes without a request here, and why.
LEFT_OUT = {
    ("POST", f"{A}/entries/parse"): "writes nothing",
    ("POST", f"{A}/ocr/receipt"): "writes nothing",
    ("POST", f"{A}/restore"): "below: its lease is a transaction of its own",
    ("POST", f"{A}/restore/json"): "as above",
    ("POST", f"{A}/imports"): "a form; it writes as the PATCH of an import",
    ("POST", f"{B}/images"): "one row under the lock of the member",
    ("POST", "/api/auth/email/verification/confirm"): "checks in one transaction, "
    "spends in another: the member, then the code",
    ("POST", "/api/auth/password-reset/confirm"): "the same",
    ("POST", "/api/auth/idp"): "needs the identity provider; one member",
    ("POST", "/api/auth/identities"): "the same",
    ("POST", "/api/auth/login/second-factor"): "needs a code: the member, then the "
    "ticket, then the factor",
    ("POST", "/api/auth/factors/totp/confirm"): "needs a code: the member, the factor",
    ("DELETE", "/api/auth/factors/totp"): "the same",
    ("POST", "/api/auth/factors/recovery-codes"): "the same",
}

# Tables of which no row is locked that others may wait for: rows are new, or a trigger
# looks into the table and finds that the count of comments stays.
NO_ROWS = {
    ("POST", f"{B}/posts"): {"board_post"},
    ("POST", f"{B}/posts/@post/comments"): {"board_comment"},
    ("PUT", f"{B}/comments/@own_comment"): {"board_post", "board_post_count"},
    ("POST", f"{B}/comments/@comment/vote"): {"board_post", "board_post_count"},
}
# An attempt to log in is counted in a transaction of its own.
COUNTED_BEFORE = {"rate_limit"}
