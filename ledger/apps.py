"""Checks of the settings at start."""

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from core.http_client import load_provider
from ledger.currencies.codes import CURRENCY_CODES


class LedgerConfig(AppConfig):
    name = "ledger"
    verbose_name = _("Ledger")

    def ready(self) -> None:
        """Raise `ImproperlyConfigured` for an unknown currency or provider."""
        if settings.HOME_CURRENCY not in CURRENCY_CODES:
            raise ImproperlyConfigured(
                f"HOME_CURRENCY: unknown currency {settings.HOME_CURRENCY}."
            )
        load_provider("FX_PROVIDER")
        load_provider("PRICE_PROVIDER")
