"""URLs of the ledger, below /api/account."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from ledger.views.backup import BackupView, RestoreBackupView
from ledger.views.budgets import BudgetViewSet
from ledger.views.card_notifications import CardNotificationViewSet, TaughtLayoutViewSet
from ledger.views.categories import CategoryViewSet
from ledger.views.entries import EntryViewSet
from ledger.views.investments import PortfolioView, StockViewSet, TradeViewSet
from ledger.views.networth import NetWorthTrendView, NetWorthView
from ledger.views.quick_entries import QuickEntryViewSet
from ledger.views.receipts import ReceiptView
from ledger.views.recurring import RecurringRuleViewSet
from ledger.views.statistics import StatisticsViewSet
from ledger.views.tags import TagViewSet
from ledger.views.wallets import WalletViewSet

router = SimpleRouter(trailing_slash=False, use_regex_path=False)
router.register("wallets", WalletViewSet)
router.register("entries", EntryViewSet)
router.register("entries", CardNotificationViewSet, "card-notification")
router.register("entries/layouts", TaughtLayoutViewSet, "taught-layout")
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
    path("networth", NetWorthView.as_view(), name="net-worth"),
    path("networth/trend", NetWorthTrendView.as_view(), name="net-worth-trend"),
    path("portfolio", PortfolioView.as_view(), name="portfolio"),
    path("ocr/receipt", ReceiptView.as_view(), name="receipt"),
    path("backup", BackupView.as_view(), name="backup"),
    path("restore", RestoreBackupView.as_view(), name="restore-backup"),
]
