"""The addresses of the ledger, below /api/account."""

from typing import Any

from django.urls import path

from ledger.views.categories import CategoryViewSet
from ledger.views.entries import EntryViewSet, PendingViewSet
from ledger.views.quick_entries import QuickEntryViewSet
from ledger.views.wallets import NetWorthViewSet, WalletViewSet

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
IMPORT: dict[str, Any] = {"post": "import_defaults"}

confirm_entry = PendingViewSet.as_view(CONFIRM)
count_pending = PendingViewSet.as_view(COUNT)
import_categories = CategoryViewSet.as_view(IMPORT)
quick_entries = QuickEntryViewSet.as_view(COLLECTION)
quick_entry = QuickEntryViewSet.as_view(ITEM)
reorder_quick_entries = QuickEntryViewSet.as_view(REORDER)

urlpatterns = [
    path("wallets", WalletViewSet.as_view(COLLECTION)),
    path("wallets/reorder", WalletViewSet.as_view(REORDER)),
    path("wallets/<int:wallet_id>", WalletViewSet.as_view(ITEM)),
    path("networth", NetWorthViewSet.as_view(READ)),
    path("entries", EntryViewSet.as_view(COLLECTION)),
    path("entries/pending/count", count_pending),
    path("entries/<int:entry_id>", EntryViewSet.as_view(ITEM)),
    path("entries/<int:entry_id>/confirm", confirm_entry),
    path("categories", CategoryViewSet.as_view(COLLECTION)),
    path("categories/reorder", CategoryViewSet.as_view(REORDER)),
    path("categories/import", import_categories),
    path("categories/<int:category_id>", CategoryViewSet.as_view(ITEM)),
    path("quick-entries", quick_entries),
    path("quick-entries/reorder", reorder_quick_entries),
    path("quick-entries/<int:quick_entry_id>", quick_entry),
]
