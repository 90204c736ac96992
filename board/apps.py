"""The board as a Django app."""

from django.apps import AppConfig


class BoardConfig(AppConfig):
    name = "board"
    verbose_name = "Community board"
