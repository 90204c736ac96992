"""Who may call what: every route, every method, every caller."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Member
from tests.support.clients import JSONClient
from tests.support.factories import make_member
from tests.support.routes import METHODS, list_routes

TABLE = """
public         GET                   /
public         GET                   /api/docs
public         GET                   /api/health
public         GET                   /api/health/live
public         GET                   /api/meta
public         GET                   /api/schema
public         GET                   /metrics

public         POST                  /api/auth/signup
public         GET                   /api/auth/signup-enabled
public         POST                  /api/auth/login
public         POST                  /api/auth/idp
public         GET                   /api/auth/idp-client-id
member         POST                  /api/auth/logout
member         POST                  /api/auth/sessions/end-others
member         GET                   /api/auth/session
member         GET,PUT               /api/auth/profile
member         PUT                   /api/auth/profile-image
member         POST                  /api/auth/verify-password
member         PUT                   /api/auth/password
member         GET                   /api/auth/points
member         DELETE                /api/auth/me
administrator  GET,POST              /api/users
administrator  GET,PUT,DELETE        /api/users/{member_id}

administrator  GET,PUT               /api/admin/signup-enabled
administrator  GET                   /api/admin/members
administrator  GET,DELETE            /api/admin/members/{member_id}
administrator  PUT                   /api/admin/members/{member_id}/role
administrator  PUT                   /api/admin/members/{member_id}/status
administrator  PUT                   /api/admin/members/{member_id}/plan
administrator  GET,POST              /api/admin/default-categories
administrator  PUT                   /api/admin/default-categories/reorder
administrator  GET,PUT,PATCH,DELETE  /api/admin/default-categories/{category_id}

member         GET,POST              /api/account/wallets
member         PUT                   /api/account/wallets/reorder
member         GET,PUT,PATCH,DELETE  /api/account/wallets/{wallet_id}
member         POST                  /api/account/wallets/{wallet_id}/reconcile
member         GET                   /api/account/wallets/{wallet_id}/history
member         GET,POST,DELETE       /api/account/wallets/{wallet_id}/valuations
member         GET                   /api/account/networth
member         GET,POST              /api/account/entries
premium        POST                  /api/account/entries/notification
premium        POST                  /api/account/entries/parse
premium        GET,PATCH             /api/account/entries/notification-settings
premium        GET                   /api/account/entries/layouts
premium        DELETE                /api/account/entries/layouts/{layout_id}
member         GET                   /api/account/entries/pending/count
member         GET,PUT,PATCH,DELETE  /api/account/entries/{entry_id}
member         POST                  /api/account/entries/{entry_id}/confirm
member         POST                  /api/account/entries/{entry_id}/refund
member         POST                  /api/account/entries/{entry_id}/merge
member         POST                  /api/account/entries/{entry_id}/unmerge
member         GET                   /api/account/entries/transfer-candidates
member         GET,POST              /api/account/categories
member         PUT                   /api/account/categories/reorder
member         POST                  /api/account/categories/import
member         GET,PUT,PATCH,DELETE  /api/account/categories/{category_id}
premium        POST                  /api/account/ocr/receipt
premium        GET,POST              /api/account/stocks
premium        PUT                   /api/account/stocks/reorder
premium        GET,PUT,PATCH,DELETE  /api/account/stocks/{stock_id}
premium        GET,POST              /api/account/trades
premium        GET,PUT,PATCH,DELETE  /api/account/trades/{trade_id}
premium        GET                   /api/account/portfolio
member         GET,POST              /api/account/quick-entries
member         PUT                   /api/account/quick-entries/reorder
member         GET,PUT,PATCH,DELETE  /api/account/quick-entries/{quick_entry_id}
member         GET                   /api/account/networth/trend
premium        GET                   /api/account/backup
premium        POST                  /api/account/restore
premium        GET,POST              /api/account/tags
premium        PUT                   /api/account/tags/reorder
premium        GET,PUT,PATCH,DELETE  /api/account/tags/{tag_id}
premium        GET,POST              /api/account/budgets
premium        POST                  /api/account/budgets/copy
premium        GET                   /api/account/budgets/status
premium        GET                   /api/account/budgets/chart
premium        GET,PUT               /api/account/budgets/income
premium        GET,PUT,PATCH,DELETE  /api/account/budgets/{budget_id}
premium        GET,POST              /api/account/recurring
premium        GET,PUT,PATCH,DELETE  /api/account/recurring/{rule_id}
premium        POST                  /api/account/recurring/{rule_id}/run
premium        GET                   /api/account/recurring/{rule_id}/occurrences
premium        GET                   /api/account/statistics/month
premium        GET                   /api/account/statistics/year
premium        GET                   /api/account/statistics/range

member         GET                   /api/fx/rate

member         GET                   /api/billing/products
member         GET                   /api/billing/subscription
member         POST                  /api/billing/store/verify
member         POST                  /api/billing/cancel
member         POST                  /api/billing/resume
member         POST                  /api/billing/restore
public         POST                  /api/billing/store/rtdn

member         GET,POST              /api/board/posts
member         GET,PUT,PATCH,DELETE  /api/board/posts/{post_id}
member         GET,POST              /api/board/posts/{post_id}/comments
member         POST                  /api/board/posts/{post_id}/vote
member         GET                   /api/board/posts/{post_id}/recommenders
administrator  POST                  /api/board/posts/{post_id}/notice
administrator  POST                  /api/board/posts/{post_id}/unnotice
member         PUT,DELETE            /api/board/comments/{comment_id}
member         POST                  /api/board/comments/{comment_id}/vote
member         POST                  /api/board/images
public         GET                   /api/images/{image_id}
public         GET                   /api/members/{member_id}/avatar
member         GET                   /api/board/my/posts
member         GET                   /api/board/my/comments

member         POST                  /auth/verify-password
member         GET,PUT               /auth/profile
member         GET                   /auth/points
public         GET                   /auth/signup-enabled
member         POST                  /account/categories/import
member         GET,POST              /account/quick-entries
member         PUT                   /account/quick-entries/reorder
member         GET,PUT,PATCH,DELETE  /account/quick-entries/{quick_entry_id}
member         POST                  /entries/{entry_id}/confirm
member         POST                  /api/entries/{entry_id}/confirm
premium        POST                  /entries/notification
premium        POST                  /api/entries/notification
premium        POST                  /account/entries/parse
member         GET                   /entries/pending/count
member         GET                   /api/entries/pending/count
premium        GET,PUT,PATCH,DELETE  /trades/{trade_id}
premium        GET,PUT,PATCH,DELETE  /api/trades/{trade_id}
member         GET                   /networth/trend
member         GET                   /api/networth/trend
premium        POST                  /budgets/copy
premium        POST                  /api/budgets/copy
premium        PUT                   /tags/reorder
premium        PUT                   /api/tags/reorder
member         POST                  /board/posts/{post_id}/vote
member         POST                  /board/comments/{comment_id}/vote
member         GET                   /board/posts/{post_id}/recommenders
member         GET                   /board/my/posts
member         GET                   /board/my/comments
administrator  POST                  /posts/{post_id}/notice
administrator  POST                  /api/posts/{post_id}/notice
administrator  POST                  /posts/{post_id}/unnotice
administrator  POST                  /api/posts/{post_id}/unnotice
"""
"""Access, methods, path; the addresses without a prefix (spec 1.2) come last."""

PAID = (
    "statistics",
    "budgets",
    "recurring",
    "tags",
    "ocr/receipt",
    "stocks",
    "trades",
    "portfolio",
    "entries/notification",
    "entries/parse",
    "entries/notification-settings",
    "entries/layouts",
    "backup",
    "restore",
)
"""What is gated below /api/account (spec 1.9)."""

CALLERS = ("anonymous", "free", "premium", "administrator")
REFUSALS = {
    "public": {},
    "member": {"anonymous": "AUTHENTICATION_REQUIRED"},
    "premium": {"anonymous": "AUTHENTICATION_REQUIRED", "free": "PREMIUM_REQUIRED"},
    "administrator": {
        "anonymous": "AUTHENTICATION_REQUIRED",
        "free": "ADMIN_REQUIRED",
        "premium": "ADMIN_REQUIRED",
    },
}
NOT_SET_UP = {"IDP_NOT_CONFIGURED", "OCR_NOT_CONFIGURED"}
STATUS_OF = {
    "AUTHENTICATION_REQUIRED": 401,
    "PREMIUM_REQUIRED": 403,
    "ADMIN_REQUIRED": 403,
}

ROWS = [line.split() for line in TABLE.splitlines() if line]
ROUTES = {route.path: route for route in list_routes()}
CASES = [
    pytest.param(access, method, path, id=f"{method} {path}")
    for access, methods, path in ROWS
    for method in methods.split(",")
]

GUARDED = [case for case in CASES if case.values[0] != "public"]
GATED = [case for case in CASES if case.values[0] == "premium"]


def make_client(caller: str) -> JSONClient:
    match caller:
        case "free":
            return JSONClient(make_member())
        case "premium":
            return JSONClient(make_member(plan="PREMIUM"))
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
    """However they are written: /api/account/tags/reorder, /tags/reorder …"""
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
    """Also one that nobody has ended, and of an administrator."""
    member = make_member(role="ADMIN")
    client = JSONClient(member)
    Member.objects.filter(pk=member.pk).update(status="SUSPENDED")
    response = client.send(method, ROUTES[path].address(), {})
    code = response.data["code"]
    assert (response.status_code, code) == (401, "AUTHENTICATION_REQUIRED")
