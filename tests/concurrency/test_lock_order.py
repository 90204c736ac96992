"""Every write takes its locks in the order of docs/architecture.md."""

import re
from collections.abc import Callable, Collection
from datetime import date, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from django.apps import apps
from django.utils import timezone

from accounts.codes.password_reset import request_reset
from accounts.codes.waiting_requests import process_requests
from accounts.models import AuthSession, LegalDocument, LinkedIdentity, Member
from accounts.sessions.store import create_session, purge_expired_sessions
from accounts.tokens.tokens import create_token
from billing.plan_expiry import expire_lapsed_plans
from board.images import purge_unused_images
from board.models import Comment, Post, TargetType
from board.moderation.actions import delete_posts
from board.moderation.bulk import judge_all, start_deed
from board.moderation.decisions import Judgement
from board.moderation.expiry import finish_moderation
from core.leases.holding import HeldLease
from ledger.backup.columns import Backup, TagRow
from ledger.backup.restore import replace_ledger
from ledger.categories.defaults import create_default_category
from ledger.demo.loader import create_demo_ledger
from ledger.models import CardBill, WalletRollup
from ledger.recurring.occurrences import process_due_rules
from ledger.rollups.repair import repair_rollups
from ledger.wallets.key_rotation import reencrypt_account_numbers
from ledger.wallets.valuations import set_valuation
from tests.support.announcements import make_announcement
from tests.support.cases import make_blind, make_case, make_decided_item
from tests.support.clients import JSONClient
from tests.support.deletion_page import begin, post_page
from tests.support.factories import (
    make_budget,
    make_card_settings,
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
    make_unsure_text,
    make_wallet,
)
from tests.support.imports import make_import
from tests.support.lock_log import LockLog, record_locks
from tests.support.operations import make_operation
from tests.support.routes import METHODS, list_routes
from tests.support.second_factors import code_now, give_totp
from tests.support.writing_requests import COUNTED_BEFORE, LEFT_OUT, NO_ROWS, REQUESTS

pytestmark = pytest.mark.django_db(transaction=True)

# Of what is named here each is locked before those after it.
ORDER = (
    "LEDGER",
    "LEGAL_DOCUMENTS",
    "ACCOUNT_DELETION",
    "member",
    "SWITCHES",
    "PURCHASE_TOKEN",
    "board_post",
    "board_comment",
    "board_case",
    "rate_limit",
    "board_post_count",
    "board_image",
    "inbox_item",
)
LEDGER_TABLES = {
    model._meta.db_table
    for model in apps.get_app_config("ledger").get_models()
    if "member_id" in {each.column for each in model._meta.concrete_fields}
}


class HeldForever:
    def ensure_held(self) -> None:
        """Do nothing: the lease is held."""


BILL = date(2026, 11, 1)


@pytest.fixture
def actor(settings: Any, mail_folder: Path) -> Member:
    settings.BILLING_TEST_MODE = True
    return make_member(role="ADMIN", login_id="actor")


@pytest.fixture
def cast_of(actor: Member) -> dict[str, Any]:
    """Return the rows that the requests name, by name; all refer to each other."""
    other = make_member()
    wallet, category = make_wallet(actor), make_category(actor)
    card = make_wallet(actor, kind="CARD")
    make_card_settings(card)
    CardBill.objects.create(member=actor, card_id=card.pk, month=BILL, amount=1)
    target, pension = make_wallet(actor), make_wallet(actor, manual_valuation=True)
    set_valuation(actor, pension.pk, date(2026, 1, 1), 1, timezone.now())
    refers: dict[str, Any] = {"wallet": wallet, "category": category}
    stock = make_stock(actor)
    long_ago = date(2026, 1, 1)
    rows: dict[str, Any] = {
        "other": other,
        "wallet": wallet,
        "target": target,
        "card": card,
        "plan": make_entry(actor, wallet=card, date=date(2026, 10, 5), amount=9),
        "category": category,
        "into": make_category(actor),
        "tag": make_tag(actor, name="old"),
        "entry": make_entry(actor, pending=True, tags=("old",), **refers),
        "expense": make_entry(actor, **refers),
        "income": make_entry(actor, type="income", wallet=target),
        "quick": make_quick_entry(actor, **refers),
        "layout": make_layout(actor),
        "text": make_unsure_text(actor),
        "pension": pension,
        "merged": make_merged_entry(actor, wallet, target),
        "budget": make_budget(actor, category=category),
        "rule": make_rule(actor, anchor_date=long_ago, **refers),
        "stock": stock,
        "other_stock": make_stock(actor),
        "trade": make_trade(actor, stock=stock),
        "operation": make_operation(actor),
        "import": make_import(actor),
        "own_post": make_post(actor),
        "post": make_post(other),
        "default": create_default_category(actor, {"name": "D", "type": "income"}),
    }
    rows["own_comment"] = make_comment(actor, post=rows["post"])
    rows["comment"] = make_comment(other, post=rows["own_post"])
    rows["document"] = LegalDocument.objects.create(
        kind="TERMS", locale="en", required=False, effective_at=timezone.now()
    )
    rows["announcement"] = make_announcement()
    rows["case"] = make_case(rows["post"])
    rows["item"] = make_decided_item(rows["own_comment"])
    cast_ = {name: row.pk for name, row in rows.items()}
    give_totp(other)
    LinkedIdentity.objects.create(member=actor, provider="google", subject="subject-1")
    cast_["provider"] = "google"
    cast_["month"] = f"{BILL:%Y-%m}"
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
        in {"account", "board", "billing", "auth", "members", "moderation"}
        | {"inbox", "users", "admin"}
    }
    named = {
        (method, re.sub(r"@\w+", "{}", path.partition("?")[0]))
        for method, path, _ in REQUESTS
    }
    routes = {(method, re.sub(r"\{\w+\}", "{}", path)) for method, path in found}
    assert routes - named == set(LEFT_OUT)
    assert named <= routes


def test_page_that_deletes_an_account_takes_its_locks_in_order(
    actor: Member, cast_of: dict[str, Any]
) -> None:
    give_totp(actor)
    form = begin(actor)
    with record_locks() as log:
        page = post_page(**form, word="delete", factor=code_now())
    assert page.status_code == 200
    assert_in_order(log, COUNTED_BEFORE)


def delete_all(actor: Member, target_type: TargetType) -> None:
    """Delete all posts or comments of others in one deed."""
    model = Post if target_type == TargetType.POST else Comment
    rows = model._default_manager.exclude(member=actor)
    targets = {target_type: list(rows.values_list("pk", flat=True))}
    judgement = Judgement("DELETE", "SPAM")
    deed = start_deed(actor, judgement, timezone.now(), targets)
    assert judge_all(deed, targets).changed


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
    "account numbers": lambda member: reencrypt_account_numbers(),
    "totals": lambda member: repair_rollups(member.pk),
    "expiry of plans": lambda member: expire_lapsed_plans(timezone.now()),
    "mails": lambda member: process_requests(timezone.now()),
    "sessions": lambda member: purge_expired_sessions(
        timezone.now() + timedelta(days=99)
    ),
    "images": lambda member: purge_unused_images(timezone.now()),
    "moderation": lambda member: finish_moderation(timezone.now() + timedelta(days=99)),
    "deed on posts": lambda member: delete_all(member, TargetType.POST),
    "deed on comments": lambda member: delete_all(member, TargetType.COMMENT),
}


@pytest.mark.parametrize("name", JOBS)
def test_job_takes_its_locks_in_order(
    actor: Member, cast_of: dict[str, Any], name: str
) -> None:
    JSONClient(actor)
    assert Post.objects.exists()
    if name == "expiry of plans":
        make_member(plan="PREMIUM", plan_expires_at=timezone.now() - timedelta(days=1))
    if name == "moderation":
        judge = make_member(role="ADMIN")
        now = timezone.now()
        delete_posts(judge, [Post.objects.latest("id").pk], now)
        make_blind(judge, make_post(actor), now)
    if name.startswith("deed"):
        make_comment(make_member(), post=make_post(make_member()))
    if name == "mails":
        request_reset({"login_id": "actor"}, "10.0.0.1", timezone.now())
    if name == "totals":
        assert WalletRollup.objects.owned_by(actor).update(balance=-1)
    # All of the job is one transaction here: members one after the other.
    with record_locks() as log:
        JOBS[name](actor)
    if name != "demo ledger":
        assert_in_order(log)
