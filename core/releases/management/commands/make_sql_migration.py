"""Make the next migration of changed SQL texts."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand

from core.releases.sql_migrations import make_sql_migration


class Command(BaseCommand):
    help = (
        "For developers: copies each changed <app>/sql/*.sql to "
        "<app>/migrations/sql/<version>/, and writes the migration that loads them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("app", help="The label of the app, such as ledger.")

    def handle(self, *args: Any, **options: Any) -> None:
        path = make_sql_migration(Path(apps.get_app_config(options["app"]).path))
        if path is None:
            self.stdout.write("The SQL texts are those of the last migration.")
        else:
            self.stdout.write(f"Wrote {path}.")
