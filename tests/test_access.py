"""Access: every route, every method, every caller."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework import views as rest_framework_views

from accounts.models import Member
from accounts.sessions.store import hash_session_key
from accounts.tokens.tokens import create_token
from core.api.token_scopes import LEDGER, TokenScope, get_required_scope
from core.api.views import APIView
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.routes import METHODS, list_routes

# Access, methods, path, and what a token needs; without it tokens are refused. `ledger`
# and `board` are `:read` for GET and `:write` for other methods; a whole scope is for
# its methods only. The addresses without a prefix (spec 1.2) come last.
TABLE = """
public         GET                   /
public         GET                   /favicon.ico
public         GET                   /api/docs
public         GET                   /api/docs/try
public         GET                   /api/health
public         GET                   /api/health/live
public         GET                   /api/meta
public         GET                   /api/schema
public         GET                   /metrics
public         GET,POST              /account/confirm
public         GET,POST              /account/reset
public         GET,POST              /account/delete
public         GET                   /legal/{kind}
public         GET,POST              /legal/report
public         GET                   /api/legal/documents
public         GET                   /api/announcements                            board:read

public         POST                  /api/auth/signup
public         GET                   /api/auth/signup-enabled
public         POST                  /api/auth/login
public         POST                  /api/auth/login/second-factor
public         POST                  /api/auth/idp
public         GET                   /api/auth/idp-client-id
member         POST                  /api/auth/logout
member         GET                   /api/auth/sessions
member         DELETE                /api/auth/sessions/{session_id}
member         POST                  /api/auth/sessions/end-others
member         GET                   /api/auth/session
member         GET,PUT               /api/auth/profile                             profile:read
member         PUT                   /api/auth/profile-image
member         POST                  /api/auth/verify-password
member         POST                  /api/auth/reauthenticate
member         PUT                   /api/auth/password
member         POST                  /api/auth/email/verification
public         POST                  /api/auth/email/verification/confirm
public         POST                  /api/auth/password-reset
public         POST                  /api/auth/password-reset/confirm
member         GET                   /api/auth/points                              profile:read
member         DELETE                /api/auth/me
member         GET                   /api/auth/blocks                              board
member         PUT,DELETE            /api/members/{member_id}/block                board
member         GET                   /api/auth/security-events
member         GET,POST              /api/auth/tokens
member         DELETE                /api/auth/tokens/{token_id}
member         GET,POST              /api/auth/identities
member         DELETE                /api/auth/identities/{provider}
member         GET                   /api/auth/factors
member         POST,DELETE           /api/auth/factors/totp
member         POST                  /api/auth/factors/totp/confirm
member         POST                  /api/auth/factors/recovery-codes
administrator  GET,POST              /api/users
administrator  GET,PUT,DELETE        /api/users/{member_id}

administrator  GET,PUT               /api/admin/signup-enabled
administrator  GET,PUT               /api/admin/switches
administrator  GET                   /api/admin/log
administrator  GET                   /api/admin/log.csv
administrator  GET,POST              /api/admin/announcements
administrator  GET,PUT,DELETE        /api/admin/announcements/{announcement_id}
administrator  GET                   /api/admin/members
administrator  POST                  /api/admin/members/bulk
administrator  GET,DELETE            /api/admin/members/{member_id}
administrator  GET                   /api/admin/members/{member_id}/support
administrator  PUT                   /api/admin/members/{member_id}/role
administrator  PUT                   /api/admin/members/{member_id}/status
administrator  PUT                   /api/admin/members/{member_id}/plan
administrator  DELETE                /api/admin/members/{member_id}/factors
administrator  DELETE                /api/admin/members/{member_id}/sessions
administrator  POST                  /api/admin/members/{member_id}/password-reset
administrator  GET,POST              /api/admin/default-categories
administrator  PUT                   /api/admin/default-categories/reorder
administrator  GET,PUT,PATCH,DELETE  /api/admin/default-categories/{category_id}

member         GET,POST              /api/account/wallets                          ledger
member         PUT                   /api/account/wallets/reorder                  ledger
member         GET,PUT,PATCH,DELETE  /api/account/wallets/{wallet_id}              ledger
member         POST                  /api/account/wallets/{wallet_id}/reconcile    ledger
member         GET                   /api/account/wallets/{wallet_id}/history      ledger
member         GET,POST,DELETE       /api/account/wallets/{wallet_id}/valuations   ledger
member         GET,PUT,DELETE        /api/account/wallets/{wallet_id}/card         ledger
member         GET                   /api/account/card-presets                     ledger
premium        GET                   /api/account/wallets/{wallet_id}/bills        ledger
premium        GET,PUT,DELETE        /api/account/wallets/{wallet_id}/bills/{month}  ledger
premium        POST                  /api/account/wallets/{wallet_id}/bills/{month}/pay  ledger
premium        GET                   /api/account/bills                            ledger
premium        GET,PUT               /api/account/entries/{entry_id}/parts         ledger
member         GET                   /api/account/networth                         ledger
member         GET,POST,PATCH        /api/account/entries                          ledger
member         POST                  /api/account/entries/batch                    ledger
member         GET,POST              /api/account/imports                          ledger
member         GET,PATCH,DELETE      /api/account/imports/{import_id}              ledger
member         GET,PATCH             /api/account/imports/{import_id}/rows         ledger
member         POST                  /api/account/imports/{import_id}/commit       ledger
member         GET                   /api/account/operations                       ledger
member         GET                   /api/account/operations/{operation_id}        ledger
member         POST                  /api/account/operations/{operation_id}/undo   ledger
member         GET                   /api/account/changes                          ledger
member         GET                   /api/account/changes/digest                   ledger
premium        POST                  /api/account/entries/notification             notifications:write
premium        GET                   /api/account/entries/notification/unsure      ledger
premium        POST                  /api/account/entries/notification/{text_id}/book  ledger
premium        POST                  /api/account/entries/parse                    notifications:write
premium        GET,PATCH             /api/account/entries/notification-settings    ledger
premium        GET,POST              /api/account/entries/layouts                  ledger
premium        DELETE                /api/account/entries/layouts/{layout_id}      ledger
member         GET                   /api/account/entries/pending/count            ledger
member         GET,PUT,PATCH,DELETE  /api/account/entries/{entry_id}               ledger
member         POST                  /api/account/entries/{entry_id}/confirm       ledger
member         POST                  /api/account/entries/{entry_id}/refund        ledger
member         POST                  /api/account/entries/{entry_id}/merge         ledger
member         POST                  /api/account/entries/{entry_id}/unmerge       ledger
member         GET                   /api/account/entries/transfer-candidates      ledger
member         POST                  /api/account/entries/transfer-candidates/dismiss ledger
member         GET,POST              /api/account/categories                       ledger
member         PUT                   /api/account/categories/reorder               ledger
member         POST                  /api/account/categories/import                ledger
member         GET,PUT,PATCH,DELETE  /api/account/categories/{category_id}         ledger
premium        POST                  /api/account/ocr/receipt                      ledger
premium        GET,POST              /api/account/stocks                           ledger
premium        PUT                   /api/account/stocks/reorder                   ledger
premium        GET,PUT,PATCH,DELETE  /api/account/stocks/{stock_id}                ledger
premium        GET,POST              /api/account/trades                           ledger
premium        GET,PUT,PATCH,DELETE  /api/account/trades/{trade_id}                ledger
premium        GET                   /api/account/portfolio                        ledger
member         GET,POST              /api/account/quick-entries                    ledger
member         PUT                   /api/account/quick-entries/reorder            ledger
member         GET,PUT,PATCH,DELETE  /api/account/quick-entries/{quick_entry_id}   ledger
member         GET                   /api/account/networth/trend                   ledger
premium        GET                   /api/account/backup
member         GET                   /api/account/export
premium        POST                  /api/account/restore
premium        POST                  /api/account/restore/json
premium        GET,POST              /api/account/tags                             ledger
premium        PUT                   /api/account/tags/reorder                     ledger
premium        GET,PUT,PATCH,DELETE  /api/account/tags/{tag_id}                    ledger
premium        GET,POST              /api/account/budgets                          ledger
premium        POST                  /api/account/budgets/copy                     ledger
premium        GET                   /api/account/budgets/status                   ledger
premium        GET                   /api/account/budgets/chart                    ledger
premium        GET,PUT               /api/account/budgets/income                   ledger
premium        GET,PUT,PATCH,DELETE  /api/account/budgets/{budget_id}              ledger
premium        GET,POST              /api/account/recurring                        ledger
premium        GET,PUT,PATCH,DELETE  /api/account/recurring/{rule_id}              ledger
premium        POST                  /api/account/recurring/{rule_id}/run          ledger
premium        GET                   /api/account/recurring/{rule_id}/occurrences  ledger
premium        GET                   /api/account/installments                     ledger
premium        GET                   /api/account/wallets/{wallet_id}/targets      ledger
premium        GET                   /api/account/statistics/month                 ledger
premium        GET                   /api/account/statistics/year                  ledger
premium        GET                   /api/account/statistics/range                 ledger

member         GET                   /api/fx/rate                                  ledger

member         GET                   /api/billing/products
member         GET                   /api/billing/account-token
member         GET                   /api/billing/subscription
member         POST                  /api/billing/store/verify
member         POST                  /api/billing/cancel
member         POST                  /api/billing/resume
member         POST                  /api/billing/restore
public         POST                  /api/billing/store/rtdn

member         GET,POST              /api/board/posts                              board
member         GET,PUT,PATCH,DELETE  /api/board/posts/{post_id}                    board
member         GET,POST              /api/board/posts/{post_id}/comments           board
member         POST                  /api/board/posts/{post_id}/vote               board
member         GET                   /api/board/posts/{post_id}/recommenders       board
administrator  POST                  /api/board/posts/{post_id}/notice
administrator  POST                  /api/board/posts/{post_id}/unnotice
member         PUT,DELETE            /api/board/comments/{comment_id}              board
member         POST                  /api/board/comments/{comment_id}/vote         board
member         POST                  /api/board/images                             board
member         POST,DELETE           /api/board/posts/{post_id}/report             board:write
member         POST,DELETE           /api/board/comments/{comment_id}/report       board:write
member         POST,DELETE           /api/members/{member_id}/report               board:write
member         GET                   /api/inbox                                    board
member         GET                   /api/inbox/count                              board
member         POST                  /api/inbox/read                               board
member         GET,PUT               /api/inbox/settings                           board
member         DELETE                /api/inbox/{item_id}                          board
member         GET                   /api/inbox/{item_id}/case
member         POST                  /api/inbox/{item_id}/appeal
moderator      GET                   /api/moderation/cases
moderator      GET                   /api/moderation/cases/{case_id}
moderator      POST                  /api/moderation/cases/{case_id}/resolve
moderator      POST                  /api/moderation/posts/{post_id}/hide
moderator      POST                  /api/moderation/posts/{post_id}/show
moderator      POST                  /api/moderation/comments/{comment_id}/hide
moderator      POST                  /api/moderation/comments/{comment_id}/show
moderator      PUT,DELETE            /api/moderation/members/{member_id}/silence
administrator  GET                   /api/admin/moderation-figures
administrator  GET,POST              /api/admin/documents
administrator  GET                   /api/admin/documents/{document_id}
member         GET,POST              /api/auth/consents
public         GET                   /api/images/{image_id}
public         GET                   /api/members/{member_id}/avatar
member         GET                   /api/board/my/posts                           board
member         GET                   /api/board/my/comments                        board

member         POST                  /auth/verify-password
member         GET,PUT               /auth/profile                                 profile:read
member         GET                   /auth/points                                  profile:read
public         GET                   /auth/signup-enabled
member         POST                  /account/categories/import                    ledger
member         GET,POST              /account/quick-entries                        ledger
member         PUT                   /account/quick-entries/reorder                ledger
member         GET,PUT,PATCH,DELETE  /account/quick-entries/{quick_entry_id}       ledger
member         POST                  /entries/{entry_id}/confirm                   ledger
member         POST                  /api/entries/{entry_id}/confirm               ledger
premium        POST                  /entries/notification                         notifications:write
premium        POST                  /api/entries/notification                     notifications:write
premium        POST                  /account/entries/parse                        notifications:write
member         GET                   /entries/pending/count                        ledger
member         GET                   /api/entries/pending/count                    ledger
premium        GET,PUT,PATCH,DELETE  /trades/{trade_id}                            ledger
premium        GET,PUT,PATCH,DELETE  /api/trades/{trade_id}                        ledger
member         GET                   /networth/trend                               ledger
member         GET                   /api/networth/trend                           ledger
premium        POST                  /budgets/copy                                 ledger
premium        POST                  /api/budgets/copy                             ledger
premium        PUT                   /tags/reorder                                 ledger
premium        PUT                   /api/tags/reorder                             ledger
member         POST                  /board/posts/{post_id}/vote                   board
member         POST                  /board/comments/{comment_id}/vote             board
member         GET                   /board/posts/{post_id}/recommenders           board
member         GET                   /board/my/posts                               board
member         GET                   /board/my/comments                            board
administrator  POST                  /posts/{post_id}/notice
administrator  POST                  /api/posts/{post_id}/notice
administrator  POST                  /posts/{post_id}/unnotice
administrator  POST                  /api/posts/{post_id}/unnotice
"""

# What is gated below /api/account (spec 1.9).
PAID = (
    "statistics",
    "installments",
    "wallets/{wallet_id}/targets",
    "budgets",
    "recurring",
    "tags",
    "ocr/receipt",
    "stocks",
    "trades",
    "portfolio",
    "entries/notification",
    "entries/notification/unsure",
    "entries/notification/{text_id}/book",
    "entries/parse",
    "entries/notification-settings",
    "entries/layouts",
    "backup",
    "restore",
    "bills",
    "wallets/{wallet_id}/bills",
    "entries/{entry_id}/parts",
)

CALLERS = ("anonymous", "free", "premium", "moderator", "administrator")
REFUSALS = {
    "public": {},
    "member": {"anonymous": "AUTHENTICATION_REQUIRED"},
    "premium": {
        "anonymous": "AUTHENTICATION_REQUIRED",
        "free": "PREMIUM_REQUIRED",
        "moderator": "PREMIUM_REQUIRED",
    },
    "moderator": {
        "anonymous": "AUTHENTICATION_REQUIRED",
        "free": "MODERATOR_REQUIRED",
        "premium": "MODERATOR_REQUIRED",
    },
    "administrator": {
        "anonymous": "AUTHENTICATION_REQUIRED",
        "free": "ADMIN_REQUIRED",
        "premium": "ADMIN_REQUIRED",
        "moderator": "ADMIN_REQUIRED",
    },
}
NOT_SET_UP = {"IDP_NOT_CONFIGURED", "MAIL_NOT_CONFIGURED", "OCR_NOT_CONFIGURED"}
STATUS_OF = {
    "AUTHENTICATION_REQUIRED": 401,
    "PREMIUM_REQUIRED": 403,
    "MODERATOR_REQUIRED": 403,
    "ADMIN_REQUIRED": 403,
}

ROWS = [line.split()[:3] for line in TABLE.splitlines() if line]
SCOPES = {
    path: scope
    for _, _, path, *more in map(str.split, filter(None, TABLE.splitlines()))
    for scope in more
}
ROUTES = {route.path: route for route in list_routes()}
CASES = [
    pytest.param(access, method, path, id=f"{method} {path}")
    for access, methods, path in ROWS
    for method in methods.split(",")
]

API_CASES = [
    case
    for case in CASES
    if issubclass(ROUTES[str(case.values[2])].view, rest_framework_views.APIView)
]
GUARDED = [case for case in CASES if case.values[0] != "public"]
GATED = [case for case in CASES if case.values[0] == "premium"]


def make_client(caller: str) -> JSONClient:
    match caller:
        case "free":
            return JSONClient(make_member())
        case "premium":
            return JSONClient(make_member(plan="PREMIUM"))
        case "moderator":
            return JSONClient(make_member(role="MODERATOR"))
        case "administrator":
            return JSONClient(make_member(role="ADMIN"))
    return JSONClient()


def test_every_route_is_in_the_table_and_every_row_has_its_route() -> None:
    listed = [path for _, _, path in ROWS]
    assert len(listed) == len(set(listed)), "a path stands in the table twice"
    assert set(ROUTES) - set(listed) == set(), "routes without a row"
    assert set(listed) - set(ROUTES) == set(), "rows without a route"


def test_every_route_answers_exactly_the_methods_of_its_row() -> None:
    listed = {path: set(methods.split(",")) for _, methods, path in ROWS}
    answered = {path: set(route.methods) for path, route in ROUTES.items()}
    assert answered == listed


@pytest.mark.django_db
@pytest.mark.parametrize(("access", "method", "path"), CASES)
def test_caller_is_answered_as_the_table_says(
    access: Any, method: Any, path: Any
) -> None:
    address = ROUTES[path].address()
    for caller in CALLERS:
        response = make_client(caller).send(method, address, {})
        where = f"{caller}: {method} {address}: {response.status_code}"
        code = response.data.get("code") if isinstance(response.data, dict) else None
        refusal = REFUSALS[access].get(caller)
        if refusal:
            assert (response.status_code, code) == (STATUS_OF[refusal], refusal), where
        else:
            assert response.status_code not in {401, 403, 405}, where
            assert response.status_code < 500 or code in NOT_SET_UP, where


def find_scope(method: str, path: str) -> str | None:
    """Return the scope that a token needs, as the table says."""
    scope = SCOPES.get(path, "")
    action = "read" if method == "GET" else "write"
    if scope in {"ledger", "board"}:
        return f"{scope}:{action}"
    return scope if scope.endswith(f":{action}") else None


@pytest.fixture(scope="module")
def token_keys(
    django_db_setup: None, django_db_blocker: Any
) -> Iterator[dict[str, str]]:
    """Yield an administrator's token of each scope, and one of all."""
    with django_db_blocker.unblock():
        member = make_member(role="ADMIN")
        session = hash_session_key(JSONClient(member).token)
        grants = {scope.value: [scope.value] for scope in TokenScope}
        keys = {
            name: create_token(
                member,
                session,
                name=name,
                scopes=scopes,
                expires_in_days=1,
                now=timezone.now(),
            ).key
            for name, scopes in (grants | {"all": list(grants)}).items()
        }
    yield keys
    with django_db_blocker.unblock():
        member.delete()


@pytest.mark.django_db
@pytest.mark.parametrize(("access", "method", "path"), API_CASES)
def test_token_opens_what_its_scope_says(
    access: Any, method: Any, path: Any, token_keys: dict[str, str]
) -> None:
    # Every route with every scope, and with all of them where none is enough.
    required = find_scope(method, path)
    view: Any = ROUTES[path].view
    is_refused_without = bool(view.authentication_classes)
    for name, key in token_keys.items():
        client = JSONClient()
        client.use_token(key)
        response = client.send(method, ROUTES[path].address(), {})
        body = response.data if isinstance(response.data, dict) else {}
        where = f"{name}: {method} {path}: {response.status_code}"
        if name in {required, "all"} and required:
            assert response.status_code not in {401, 403}, where
        elif is_refused_without:
            refusal = (response.status_code, body.get("code"), body.get("scope"))
            assert refusal == (403, "SCOPE_REQUIRED", required), where
        else:
            assert access == "public", where
            assert response.status_code not in {401, 403}, where


def test_view_without_a_scope_refuses_tokens() -> None:
    # Also one that derives from a view which has declared some.
    class Declared(APIView):
        token_scopes = LEDGER

    class Derived(Declared):
        pass

    assert get_required_scope(Declared(), "GET") == TokenScope.LEDGER_READ
    assert get_required_scope(Derived(), "GET") is None
    assert get_required_scope(None, "GET") is None


@pytest.mark.django_db
@pytest.mark.parametrize("path", [path for _, _, path in ROWS if "/api/" in path])
def test_other_methods_are_405_with_a_problem_body(path: Any) -> None:
    client = make_client("administrator")
    for method in set(METHODS) - set(ROUTES[path].methods):
        response = client.send(method, ROUTES[path].address(), {})
        assert response.status_code == 405, method
        assert response.data["code"] == "METHOD_NOT_ALLOWED"
        assert response.headers["Allow"]


@pytest.mark.django_db
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", ["nothing", "members/abc", "members/1/nothing", "x/"])
def test_unknown_address_of_administrators_refuses_all_others(
    method: Any, path: str
) -> None:
    for caller, refusal in REFUSALS["administrator"].items():
        response = make_client(caller).send(method, f"/api/admin/{path}", {})
        code = response.data["code"]
        assert (response.status_code, code) == (STATUS_OF[refusal], refusal), caller
    response = make_client("administrator").send(method, f"/api/admin/{path}", {})
    assert (response.status_code, response.data["code"]) == (404, "NOT_FOUND")


def test_paid_paths_are_those_of_the_contract() -> None:
    # However they are written: /api/account/tags/reorder, /tags/reorder …
    for access, _, path in ROWS:
        short = path.removeprefix("/api").removeprefix("/account").removeprefix("/")
        is_ledger = not short.startswith(("auth", "admin", "billing", "board", "users"))
        is_paid = any(short == paid or short.startswith(f"{paid}/") for paid in PAID)
        assert (access == "premium") == (is_ledger and is_paid), path


@pytest.mark.django_db
@pytest.mark.parametrize(("access", "method", "path"), GATED)
def test_plan_opens_paid_paths_only_while_it_runs(
    access: Any, method: Any, path: Any
) -> None:
    now = timezone.now()
    plans: list[tuple[dict[str, Any], bool]] = [
        ({"plan_expires_at": now - timedelta(seconds=1)}, True),
        ({"plan_expires_at": now + timedelta(days=1)}, False),
        ({"plan_expires_at": now - timedelta(days=9), "plan_auto_renew": True}, False),
        ({"plan_expires_at": now - timedelta(days=9), "role": "ADMIN"}, False),
    ]
    for fields, is_refused in plans:
        client = JSONClient(make_member(plan="PREMIUM", **fields))
        response = client.send(method, ROUTES[path].address(), {})
        body = response.data if isinstance(response.data, dict) else {}
        assert (body.get("code") == "PREMIUM_REQUIRED") == is_refused, fields
        assert (response.status_code == 403) == is_refused, fields


@pytest.mark.django_db
@pytest.mark.parametrize(("access", "method", "path"), GUARDED)
def test_session_of_a_suspended_member_opens_nothing(
    access: Any, method: Any, path: Any
) -> None:
    # Also one that nobody has ended, and of an administrator.
    member = make_member(role="ADMIN")
    client = JSONClient(member)
    Member.objects.filter(pk=member.pk).update(status="SUSPENDED")
    response = client.send(method, ROUTES[path].address(), {})
    code = response.data["code"]
    assert (response.status_code, code) == (401, "AUTHENTICATION_REQUIRED")
