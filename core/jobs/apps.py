"""The jobs as a Django app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "core.jobs"
    verbose_name = "Jobs"
