"""The routes of the ledger, with rows and a body for each, for sweeps over all of them."""

from collections.abc import Callable
from typing import Any

from accounts.models import Member
from ledger.base.ownership import OwnedView
from tests.support.factories import (
    make_budget,
    make_category,
    make_entry,
    make_layout,
    make_quick_entry,
    make_rule,
    make_stock,
    make_tag,
    make_trade,
    make_unsure_text,
    make_wallet,
)
from tests.support.imports import make_import
from tests.support.operations import make_operation
from tests.support.routes import list_routes

# How a row of somebody else is made for each id in a path.
MAKERS: dict[str, Callable[[Member], Any]] = {
    "wallet_id": make_wallet,
    "entry_id": lambda member: make_entry(member, pending=True, tags=("theirs",)),
    "category_id": make_category,
    "quick_entry_id": make_quick_entry,
    "tag_id": make_tag,
    "budget_id": make_budget,
    "rule_id": make_rule,
    "stock_id": make_stock,
    "trade_id": make_trade,
    "layout_id": make_layout,
    "operation_id": make_operation,
    "import_id": make_import,
    "text_id": make_unsure_text,
}

# A body that each of the routes would accept for a row of the caller.
WHOLE_BODY = {
    "name": "Mine",
    "kind": "CASH",
    "date": "2026-11-21",
    "type": "expense",
    "amount": 5,
    "category": "Mine",
    "tags": ["mine"],
    "year": 2026,
    "month": 11,
    "frequency": "MONTHLY",
    "anchorDate": "2026-11-21",
    "code": "MINE",
    "side": "BUY",
    "quantity": 1,
    "price": 1,
    "text": "신한카드(1309)승인 4,800원 11/10 08:31 바람커피",
}

# Pages about a member's account and not the ledger.
ACCOUNT_PAGES = {"/account/confirm", "/account/delete", "/account/reset"}

LEDGER_ROUTES = [
    route
    for route in list_routes()
    if ("/account/" in route.path and route.path not in ACCOUNT_PAGES)
    or issubclass(route.view, OwnedView)
]
