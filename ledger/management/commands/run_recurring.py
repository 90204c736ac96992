"""`run_recurring`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from core.progress import Progress
from ledger.recurring.occurrences import process_due_rules


class Command(BaseCommand):
    help = (
        "Posts every recurring transaction that is due by today in the home time zone, "
        "of all premium members, including those missed during a downtime. Each due "
        "date is posted once, even if several runs overlap; Beat runs the same job "
        "every hour. Exits with 1 if a rule failed; the log says which and why."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        result = process_due_rules(timezone.now(), Progress(self.stderr.write))
        self.stdout.write(f"{result.booked} booked, {result.missed} missed.")
        if result.failed:
            raise CommandError(f"{result.failed} rules failed.")
