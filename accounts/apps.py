"""The app that owns members and their sessions."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
