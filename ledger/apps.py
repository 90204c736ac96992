"""The app that owns the ledger."""

from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "ledger"
