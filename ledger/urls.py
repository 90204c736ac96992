"""The addresses of the ledger, below /api/account."""

from typing import Any

from django.urls import path
from rest_framework.routers import SimpleRouter

from ledger.views.backup import BackupViewSet, RestoreViewSet
from ledger.views.budgets import BudgetViewSet
from ledger.views.card_notifications import NotificationViewSet
from ledger.views.categories import CategoryViewSet
from ledger.views.entries import EntryViewSet, PendingEntryViewSet
from ledger.views.investments import (
    PortfolioViewSet,
    StockViewSet,
    TradeViewSet,
)
from ledger.views.networth import NetWorthViewSet
from ledger.views.quick_entries import QuickEntryViewSet
from ledger.views.receipts import ReceiptViewSet
from ledger.views.recurring import RecurringRuleViewSet
from ledger.views.statistics import StatisticsViewSet
from ledger.views.tags import TagViewSet
from ledger.views.wallets import WalletViewSet

COLLECTION: dict[str, Any] = {"get": "list", "post": "create"}
ITEM: dict[str, Any] = {
    "get": "retrieve",
    "put": "update",
    "patch": "partial_update",
    "delete": "destroy",
}
REORDER: dict[str, Any] = {"put": "reorder"}
READ: dict[str, Any] = {"get": "retrieve"}
CONFIRM: dict[str, Any] = {"post": "confirm"}
COUNT: dict[str, Any] = {"get": "count"}
CREATE: dict[str, Any] = {"post": "create"}
PARSE: dict[str, Any] = {"post": "parse"}
IMPORT: dict[str, Any] = {"post": "import_defaults"}
COPY: dict[str, Any] = {"post": "copy"}
STATUS: dict[str, Any] = {"get": "status"}
CHART: dict[str, Any] = {"get": "chart"}
INCOME: dict[str, Any] = {"get": "income", "put": "set_income"}
TREND: dict[str, Any] = {"get": "trend"}
RUN: dict[str, Any] = {"post": "run"}
OCCURRENCES: dict[str, Any] = {"get": "occurrences"}
MONTH: dict[str, Any] = {"get": "month"}
YEAR: dict[str, Any] = {"get": "year"}
RANGE: dict[str, Any] = {"get": "range"}
READ_RECEIPT: dict[str, Any] = {"post": "read"}

confirm_entry = PendingEntryViewSet.as_view(CONFIRM)
count_pending = PendingEntryViewSet.as_view(COUNT)
process_notification = NotificationViewSet.as_view(CREATE)
parse_notification = NotificationViewSet.as_view(PARSE)
import_categories = CategoryViewSet.as_view(IMPORT)
quick_entries = QuickEntryViewSet.as_view(COLLECTION)
quick_entry = QuickEntryViewSet.as_view(ITEM)
reorder_quick_entries = QuickEntryViewSet.as_view(REORDER)
networth_trend = NetWorthViewSet.as_view(TREND)
copy_budgets = BudgetViewSet.as_view(COPY)
reorder_tags = TagViewSet.as_view(REORDER)
trade = TradeViewSet.as_view(ITEM)

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("wallets", WalletViewSet)

urlpatterns = [
    *router.urls,
    path("backup", BackupViewSet.as_view(READ)),
    path("restore", RestoreViewSet.as_view(CREATE)),
    path("networth", NetWorthViewSet.as_view(READ)),
    path("networth/trend", networth_trend),
    path("entries", EntryViewSet.as_view(COLLECTION)),
    path("entries/notification", process_notification),
    path("entries/parse", parse_notification),
    path("entries/pending/count", count_pending),
    path("entries/<int:entry_id>", EntryViewSet.as_view(ITEM)),
    path("entries/<int:entry_id>/confirm", confirm_entry),
    path("categories", CategoryViewSet.as_view(COLLECTION)),
    path("categories/reorder", CategoryViewSet.as_view(REORDER)),
    path("categories/import", import_categories),
    path("categories/<int:category_id>", CategoryViewSet.as_view(ITEM)),
    path("tags", TagViewSet.as_view(COLLECTION)),
    path("tags/reorder", reorder_tags),
    path("tags/<int:tag_id>", TagViewSet.as_view(ITEM)),
    path("budgets", BudgetViewSet.as_view(COLLECTION)),
    path("budgets/copy", copy_budgets),
    path("budgets/status", BudgetViewSet.as_view(STATUS)),
    path("budgets/chart", BudgetViewSet.as_view(CHART)),
    path("budgets/income", BudgetViewSet.as_view(INCOME)),
    path("budgets/<int:budget_id>", BudgetViewSet.as_view(ITEM)),
    path("recurring", RecurringRuleViewSet.as_view(COLLECTION)),
    path("recurring/<int:rule_id>", RecurringRuleViewSet.as_view(ITEM)),
    path("recurring/<int:rule_id>/run", RecurringRuleViewSet.as_view(RUN)),
    path(
        "recurring/<int:rule_id>/occurrences", RecurringRuleViewSet.as_view(OCCURRENCES)
    ),
    path("statistics/month", StatisticsViewSet.as_view(MONTH)),
    path("statistics/year", StatisticsViewSet.as_view(YEAR)),
    path("statistics/range", StatisticsViewSet.as_view(RANGE)),
    path("ocr/receipt", ReceiptViewSet.as_view(READ_RECEIPT)),
    path("stocks", StockViewSet.as_view(COLLECTION)),
    path("stocks/reorder", StockViewSet.as_view(REORDER)),
    path("stocks/<int:stock_id>", StockViewSet.as_view(ITEM)),
    path("trades", TradeViewSet.as_view(COLLECTION)),
    path("trades/<int:trade_id>", trade),
    path("portfolio", PortfolioViewSet.as_view(READ)),
    path("quick-entries", quick_entries),
    path("quick-entries/reorder", reorder_quick_entries),
    path("quick-entries/<int:quick_entry_id>", quick_entry),
]
