"""App configuration of billing."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from billing.stores import load_verifier


class BillingConfig(AppConfig):
    name = "billing"
    verbose_name = _("Purchases")

    def ready(self) -> None:
        load_verifier()
