"""The app that owns the ledger."""

from django.apps import AppConfig

from config.outgoing import load_provider


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        """A provider that cannot be found stops the start."""
        load_provider("FX_PROVIDER")
        load_provider("PRICE_PROVIDER")
