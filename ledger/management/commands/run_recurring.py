"""`run_recurring`: book the recurring transactions that are due."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from core.progress import Progress
from ledger.occurrences import process_due_rules


class Command(BaseCommand):
    help = (
        "Books every recurring transaction that is due by today in the home time "
        "zone, of all members whose plan runs, also after days of downtime. Each due "
        "date is booked once, however often and beside whom this runs; Beat does the "
        "same every hour. Exits with 1 if a rule could not be booked; the log says "
        "which and why."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        run = process_due_rules(timezone.now(), Progress(self.stderr.write))
        self.stdout.write(f"{run.booked} booked, {run.missed} missed.")
        if run.failed:
            raise CommandError(f"{run.failed} rules could not be booked.")
