"""App configuration of the board."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BoardConfig(AppConfig):
    name = "board"
    verbose_name = _("Community board")
