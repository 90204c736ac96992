"""The Django app of the leases."""

from django.apps import AppConfig


class LeasesConfig(AppConfig):
    name = "core.leases"
    verbose_name = "Leases"
