"""`check_restored`: migrate a restored database and compare its totals."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

COMMANDS = ("migrate", "check_totals", "check_board_counters")


class Command(BaseCommand):
    help = (
        "Migrates the database, then runs check_totals and check_board_counters. The "
        "scripts of backups run it on what they have restored; exits with 1 and names "
        "the command that failed."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        for name in COMMANDS:
            given = {"interactive": False} if name == "migrate" else {}
            try:
                call_command(name, stdout=self.stdout, stderr=self.stderr, **given)
            except CommandError as error:
                raise CommandError(f"{name} failed: {error}") from error
