"""The app that owns purchases and what they give."""

from django.apps import AppConfig

from billing.stores import load_verifier


class BillingConfig(AppConfig):
    name = "billing"

    def ready(self) -> None:
        """A verifier that cannot be found, or lacks its settings, stops the start."""
        load_verifier()
