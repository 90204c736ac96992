"""Every write takes its locks in the order of docs/architecture.md."""

import re
from collections.abc import Callable, Collection
from datetime import date, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from django.apps import apps
from django.utils import timezone

from accounts.models import AuthSession, Member
from accounts.password_reset import process_requests, request_reset
from accounts.personal_tokens import create_token
from accounts.sessions import create_session, purge_expired_sessions
from billing.plan_expiry import expire_lapsed_plans
from board.images import purge_unused_images
from board.models import Post
from core.leases.holding import HeldLease
from ledger.backup.columns import Backup, TagRow
from ledger.backup.restore import replace_ledger
from ledger.default_categories import create_default_category
from ledger.demo.loader import create_demo_ledger
from ledger.key_rotation import reencrypt_account_numbers
from ledger.models import Category, Wallet, WalletRollup
from ledger.move_job import run_moves
from ledger.occurrences import process_due_rules
from ledger.rollup_repair import repair_rollups
from ledger.valuations import type_value
from tests.support.clients import JSONClient
from tests.support.factories import (
    PASSWORD,
    make_budget,
    make_category,
    make_comment,
    make_entry,
    make_layout,
    make_member,
    make_merged_entry,
    make_post,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_trade,
    make_wallet,
)
from tests.support.lock_log import LockLog, record_locks
from tests.support.routes import METHODS, list_routes
from tests.support.second_factors import give_totp

pytestmark = pytest.mark.django_db(transaction=True)

# Of what is named here each is locked before those after it.
ORDER = (
    "ACCOUNT_DELETION",
    "LEDGER",
    "member",
    "PURCHASE_TOKEN",
    "board_post",
    "board_comment",
    "rate_limit",
    "board_post_count",
    "board_image",
)
LEDGER_TABLES = {
    model._meta.db_table
    for model in apps.get_app_config("ledger").get_models()
    if "member_id" in {each.column for each in model._meta.concrete_fields}
}
A, B = "/api/account", "/api/board"
NEW = {"date": "2026-11-21", "type": "expense", "amount": 5, "name": "New"}
RULE = {"frequency": "MONTHLY", "anchorDate": "2026-11-21"}
NAMES = {"category": "New", "tags": ["old", "new"], "walletId": "@wallet"}
TRADE = {"stockId": "@stock", "side": "BUY", "date": "2026-11-21"}
POST = {"title": "Title", "content": "<p>Words</p>", "category": "tips"}
TO_TARGET = {"amount": 3, "walletId": "@target"}
VALUE = {"date": "2026-11-21", "value": 5}
# Method, path and body of a request for each route that writes. `@wallet` is the id of
# the row of that name.
REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", f"{A}/wallets", {"name": "New", "kind": "CASH"}),
    ("PUT", f"{A}/wallets/reorder", {"ids": ["@target", "@wallet", "@pension"]}),
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
    ("POST", f"{A}/entries", NEW),
    ("POST", f"{A}/entries", NEW | NAMES),
    ("PUT", f"{A}/entries/@entry", NEW | NAMES),
    ("PATCH", f"{A}/entries/@entry", NAMES),
    ("DELETE", f"{A}/entries/@entry", None),
    ("POST", f"{A}/entries/@entry/confirm", {}),
    (
        "POST",
        f"{A}/entries",
        NEW | {"type": "transfer", "walletId": "@wallet", "toWalletId": "@target"},
    ),
    (
        "POST",
        f"{A}/entries",
        NEW
        | {"walletId": "@wallet"}
        | {"lines": [{"amount": 2, "category": "New"}, TO_TARGET]},
    ),
    ("POST", f"{A}/entries/@expense/refund", {"amount": 1}),
    ("POST", f"{A}/entries/@expense/merge", {"with": "@income"}),
    ("POST", f"{A}/entries/@merged/unmerge", None),
    (
        "POST",
        f"{A}/entries/notification",
        {"text": "신한카드(1309)승인 4,800원 11/10 08:31 바람커피"},
    ),
    ("PATCH", f"{A}/entries/notification-settings", {"captureBankTexts": True}),
    ("DELETE", f"{A}/entries/layouts/@layout", None),
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
    ("POST", f"{B}/posts", POST),
    ("PUT", f"{B}/posts/@own_post", POST),
    ("PATCH", f"{B}/posts/@own_post", {"category": "saving", "content": "<p>a</p>"}),
    ("DELETE", f"{B}/posts/@own_post", None),
    ("DELETE", f"{B}/posts/@post", None),
    ("POST", f"{B}/posts/@post/comments", {"content": "Words"}),
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
    ("PUT", "/api/admin/signup-enabled", {"enabled": False}),
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
    ("POST", f"{B}/images"): "one row under the lock of the member",
    ("POST", "/api/auth/email/verification/confirm"): "checks in one transaction, "
    "spends in another: the member, then the code",
    ("POST", "/api/auth/password-reset/confirm"): "the same",
    ("POST", "/api/auth/idp"): "needs the identity provider; one member",
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


class HeldForever:
    def ensure_held(self) -> None:
        """Do nothing: the lease is held."""


@pytest.fixture
def actor(settings: Any, mail_folder: Path) -> Member:
    settings.BILLING_TEST_MODE = True
    return make_member(role="ADMIN", login_id="actor")


@pytest.fixture
def cast_of(actor: Member) -> dict[str, Any]:
    """Return the rows that the requests name, by name; all refer to each other."""
    other = make_member()
    wallet, category = make_wallet(actor), make_category(actor)
    target, pension = make_wallet(actor), make_wallet(actor, manual_valuation=True)
    type_value(pension, 1, date(2026, 1, 1), timezone.now())
    refers: dict[str, Any] = {"wallet": wallet, "category": category}
    stock = make_stock(actor)
    long_ago = date(2026, 1, 1)
    rows: dict[str, Any] = {
        "other": other,
        "wallet": wallet,
        "target": target,
        "category": category,
        "into": make_category(actor),
        "tag": make_tag(actor, name="old"),
        "entry": make_entry(actor, pending=True, tags=("old",), **refers),
        "expense": make_entry(actor, **refers),
        "income": make_entry(actor, type="income", wallet=target),
        "quick": make_quick_entry(actor, **refers),
        "layout": make_layout(actor),
        "pension": pension,
        "merged": make_merged_entry(actor, wallet, target),
        "budget": make_budget(actor, category=category),
        "rule": make_rule(actor, anchor_date=long_ago, **refers),
        "stock": stock,
        "other_stock": make_stock(actor),
        "trade": make_trade(actor, stock=stock),
        "own_post": make_post(actor),
        "post": make_post(other),
        "default": create_default_category(actor, {"name": "D", "type": "income"}),
    }
    rows["own_comment"] = make_comment(actor, post=rows["post"])
    rows["comment"] = make_comment(other, post=rows["own_post"])
    cast_ = {name: row.pk for name, row in rows.items()}
    give_totp(other)
    create_session(actor)
    cast_["session"] = AuthSession.objects.get(member=actor).public_id
    cast_["token"] = create_token(
        actor,
        AuthSession.objects.get(member=actor).key_hash,
        name="T",
        scopes=["board:read"],
        expires_in_days=1,
        now=timezone.now(),
    ).token.public_id
    defaults = type(rows["default"]).objects.filter(type="income", parent=None)
    cast_["defaults"] = list(defaults.values_list("pk", flat=True))
    return cast_


def fill_in(value: Any, rows: dict[str, Any]) -> Any:
    """Put ids in the place of names."""
    if isinstance(value, dict):
        return {name: fill_in(each, rows) for name, each in value.items()}
    if isinstance(value, list):
        return [fill_in(each, rows) for each in value]
    if isinstance(value, str) and value.startswith("@"):
        return rows[value[1:]]
    if isinstance(value, str):
        for name in sorted(rows, key=len, reverse=True):
            value = value.replace(f"@{name}", str(rows[name]))
    return value


def assert_in_order(log: LockLog, ignored: Collection[str] = ()) -> None:
    """Assert that the locks were taken in `ORDER`, the ledger's before its rows."""
    numbers = [
        (number, name.partition(" ")[0])
        for number, (_, names) in enumerate(log.steps)
        for name in names
    ]
    # What one statement locks has no order here.
    ranked = [
        (ORDER.index(name), number)
        for number, name in numbers
        if name in ORDER and name not in ignored
    ]
    for rank, number in ranked:
        later = {ORDER[other] for other, n in ranked if n < number and other > rank}
        assert not later, f"{ORDER[rank]} after {later}: {log.steps[number][0]}"
    locked = [n for n, name in numbers if name == "LEDGER"]
    for number, name in numbers:
        if name in LEDGER_TABLES:
            assert locked, f"{name} without LEDGER: {log.steps[number][0]}"
            statement = log.steps[number][0]
            # The function that creates an entry takes the lock first, too.
            is_function = "account_create_entry" in statement
            assert min(locked) < number + is_function, f"{name}: {statement}"


@pytest.mark.parametrize(
    ("method", "path", "body"), REQUESTS, ids=[f"{m} {p}" for m, p, _ in REQUESTS]
)
def test_request_takes_its_locks_in_order(
    actor: Member, cast_of: dict[str, Any], method: str, path: str, body: Any
) -> None:
    client = JSONClient(actor)
    if path.startswith("/api/billing"):
        token = {"productId": "premium_yearly", "purchaseToken": "test-0"}
        client.send("POST", "/api/billing/store/verify", token)
    address, content = fill_in(path, cast_of), fill_in(body, cast_of)
    with record_locks() as log:
        response = client.send(method, address, content)
    assert response.status_code < 300, response.content
    assert log.steps
    # A new member comes with an empty ledger, which nobody knows yet.
    if path not in {"/api/auth/signup", "/api/users"} or method != "POST":
        ignored = NO_ROWS.get((method, path), set())
        if path.startswith("/api/auth"):
            ignored = COUNTED_BEFORE
        assert_in_order(log, ignored)


def test_every_route_that_writes_has_a_request() -> None:
    found = {
        (method, route.path)
        for route in list_routes()
        for method in set(route.methods) & set(METHODS[1:])
        if route.path.startswith("/api/")
        # The addresses without a part of the prefix have the views of others.
        and route.path.split("/")[2]
        in {"account", "board", "billing", "auth"} | {"users", "admin"}
    }
    named = {
        (method, re.sub(r"@\w+", "{}", path.partition("?")[0]))
        for method, path, _ in REQUESTS
    }
    routes = {(method, re.sub(r"\{\w+\}", "{}", path)) for method, path in found}
    assert routes - named == set(LEFT_OUT)
    assert named <= routes


JOBS: dict[str, Callable[[Member], object]] = {
    "recurring rules": lambda member: process_due_rules(timezone.now()),
    "demo ledger": lambda member: create_demo_ledger(
        make_member(), timezone.now(), timezone.localdate()
    ),
    "restore": lambda member: replace_ledger(
        member,
        Backup(tags=[TagRow(name="new")]),
        timezone.now(),
        cast("HeldLease", HeldForever()),
    ),
    "moves": lambda member: run_moves(),
    "account numbers": lambda member: reencrypt_account_numbers(),
    "totals": lambda member: repair_rollups(member.pk),
    "expiry of plans": lambda member: expire_lapsed_plans(timezone.now()),
    "mails": lambda member: process_requests(timezone.now()),
    "sessions": lambda member: purge_expired_sessions(
        timezone.now() + timedelta(days=99)
    ),
    "images": lambda member: purge_unused_images(timezone.now()),
}


@pytest.mark.parametrize("name", JOBS)
def test_job_takes_its_locks_in_order(
    actor: Member, cast_of: dict[str, Any], name: str
) -> None:
    JSONClient(actor)
    assert Post.objects.exists()
    if name == "expiry of plans":
        make_member(plan="PREMIUM", plan_expires_at=timezone.now() - timedelta(days=1))
    if name == "mails":
        request_reset({"login_id": "actor"}, "10.0.0.1", timezone.now())
    if name == "totals":
        assert WalletRollup.objects.owned_by(actor).update(balance=-1)
    if name == "moves":
        for model, source, target in (
            (Wallet, "wallet", "target"),
            (Category, "category", "into"),
        ):
            rows = model.objects.owned_by(actor).filter(pk=cast_of[source])
            rows.update(moving_to=cast_of[target])
    # All of the job is one transaction here: members one after the other.
    with record_locks() as log:
        JOBS[name](actor)
    if name != "demo ledger":
        assert_in_order(log)
