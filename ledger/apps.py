"""The app that owns the ledger."""

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from core.http_client import load_provider
from ledger.currencies import CURRENCY_CODES


class LedgerConfig(AppConfig):
    name = "ledger"

    def ready(self) -> None:
        """A currency that is none, or a provider that is not there, stops the start."""
        if settings.HOME_CURRENCY not in CURRENCY_CODES:
            raise ImproperlyConfigured(
                f"HOME_CURRENCY: there is no currency {settings.HOME_CURRENCY}."
            )
        load_provider("FX_PROVIDER")
        load_provider("PRICE_PROVIDER")
