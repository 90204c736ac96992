"""The models of the ledger without the start-up code of its own AppConfig."""

from django.apps import AppConfig


class LedgerTablesConfig(AppConfig):
    name = "ledger"
