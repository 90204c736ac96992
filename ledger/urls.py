"""URLs below /api/account."""

from django.urls import path
from rest_framework.routers import Route, SimpleRouter

from ledger.backup.views import (
    BackupView,
    RestoreBackupFromJsonView,
    RestoreBackupView,
)
from ledger.budgets.views import BudgetViewSet
from ledger.bulk.views import EntryViewSet
from ledger.cards.installment_views import InstallmentView
from ledger.cards.target_views import TargetView
from ledger.cards.views import (
    BillViewSet,
    CardPresetViewSet,
    CardViewSet,
    MonthBillViewSet,
    PartsViewSet,
)
from ledger.categories.views import CategoryViewSet
from ledger.changes.views import ChangeViewSet
from ledger.export.views import ExportView
from ledger.imports.views import ImportViewSet
from ledger.investments.views import PortfolioView, StockViewSet, TradeViewSet
from ledger.notifications.views import CardNotificationViewSet
from ledger.operations.views import OperationViewSet
from ledger.quick_entries.views import QuickEntryViewSet
from ledger.receipts.views import ReceiptView
from ledger.recurring.views import RecurringRuleViewSet
from ledger.statistics.net_worth_views import NetWorthTrendView, NetWorthView
from ledger.statistics.views import StatisticsViewSet
from ledger.tags.views import TagViewSet
from ledger.taught_layouts.views import TaughtLayoutViewSet
from ledger.wallets.views import WalletViewSet


class LedgerRouter(SimpleRouter):
    """Routes PATCH of a whole list, too, where a viewset has it."""

    routes = [
        route._replace(mapping=route.mapping | {"patch": "change_entries"})
        if isinstance(route, Route) and not route.detail
        else route
        for route in SimpleRouter.routes
    ]


router = LedgerRouter(trailing_slash=False, use_regex_path=False)
router.register("wallets", WalletViewSet)
router.register("entries", EntryViewSet)
router.register("entries", CardNotificationViewSet, "card-notification")
router.register("entries/layouts", TaughtLayoutViewSet, "taught-layout")
router.register("changes", ChangeViewSet, "change")
router.register("operations", OperationViewSet, "operation")
router.register("imports", ImportViewSet, "import")
router.register("categories", CategoryViewSet)
router.register("tags", TagViewSet)
router.register("quick-entries", QuickEntryViewSet, "quick-entry")
router.register("budgets", BudgetViewSet)
router.register("recurring", RecurringRuleViewSet, "recurring-rule")
router.register("statistics", StatisticsViewSet, "statistics")
router.register("stocks", StockViewSet)
router.register("trades", TradeViewSet)

urlpatterns = [
    *router.urls,
    path("installments", InstallmentView.as_view(), name="installments"),
    path("wallets/<int:wallet_id>/targets", TargetView.as_view(), name="card-targets"),
    path(
        "wallets/<int:wallet_id>/card",
        CardViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
        name="card",
    ),
    path(
        "card-presets",
        CardPresetViewSet.as_view({"get": "list_card_presets"}),
        name="card-presets",
    ),
    path(
        "wallets/<int:wallet_id>/bills",
        BillViewSet.as_view({"get": "list_card_bills"}),
        name="card-bills",
    ),
    path(
        "wallets/<int:wallet_id>/bills/<str:month>",
        BillViewSet.as_view(
            {
                "get": "get_card_bill",
                "put": "set_printed_bill",
                "delete": "delete_printed_bill",
            }
        ),
        name="card-bill",
    ),
    path(
        "wallets/<int:wallet_id>/bills/<str:month>/pay",
        BillViewSet.as_view({"post": "pay_card_bill"}),
        name="pay-card-bill",
    ),
    path(
        "bills",
        MonthBillViewSet.as_view({"get": "list_bills_of_month"}),
        name="bills-of-month",
    ),
    path(
        "entries/<int:entry_id>/parts",
        PartsViewSet.as_view(
            {"get": "get_installment_parts", "put": "set_installment_parts"}
        ),
        name="installment-parts",
    ),
    path("networth", NetWorthView.as_view(), name="net-worth"),
    path("networth/trend", NetWorthTrendView.as_view(), name="net-worth-trend"),
    path("portfolio", PortfolioView.as_view(), name="portfolio"),
    path("ocr/receipt", ReceiptView.as_view(), name="receipt"),
    path("backup", BackupView.as_view(), name="backup"),
    path("export", ExportView.as_view(), name="export"),
    path("restore", RestoreBackupView.as_view(), name="restore-backup"),
    path(
        "restore/json",
        RestoreBackupFromJsonView.as_view(),
        name="restore-backup-from-json",
    ),
]
