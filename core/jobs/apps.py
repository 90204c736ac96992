"""The Django app of the periodic jobs."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JobsConfig(AppConfig):
    name = "core.jobs"
    verbose_name = _("Jobs")
