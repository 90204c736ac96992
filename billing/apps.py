"""The Django app of purchases and subscriptions."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from billing.stores import load_verifier


class BillingConfig(AppConfig):
    name = "billing"
    verbose_name = _("Purchases")

    def ready(self) -> None:
        """Stop the start if STORE_VERIFIER does not exist or lacks its settings."""
        load_verifier()
