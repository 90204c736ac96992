"""The Django app of the community board."""

from django.apps import AppConfig


class BoardConfig(AppConfig):
    name = "board"
    verbose_name = "Community board"
