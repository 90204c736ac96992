"""The Django app of purchases and subscriptions."""

from django.apps import AppConfig

from billing.stores import load_verifier


class BillingConfig(AppConfig):
    name = "billing"

    def ready(self) -> None:
        """Stop the start if STORE_VERIFIER does not exist or lacks its settings."""
        load_verifier()
