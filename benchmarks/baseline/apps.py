"""The ledger's tables, without the service that starts with them."""

from django.apps import AppConfig


class LedgerTablesConfig(AppConfig):
    name = "ledger"
