"""`run_recurring`."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from core.progress import Progress
from ledger.cards.automatic_payments import pay_due_bills
from ledger.recurring.occurrences import process_due_rules


class Command(BaseCommand):
    help = (
        "Posts every recurring transaction that is due by today in the home time zone, "
        "of all premium members, including those missed during a downtime, and the "
        "transfers of cards that pay their bills by themselves. Each due date and bill "
        "is posted once, even if several runs overlap; Beat runs the same job every "
        "hour. Exits with 1 if a rule or a card failed; the log says which and why."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        now, progress = timezone.now(), Progress(self.stderr.write)
        result = process_due_rules(now, progress)
        paid = pay_due_bills(now, progress)
        self.stdout.write(
            f"{result.booked} booked, {result.missed} missed, {paid.booked} bills paid."
        )
        if result.failed or paid.failed:
            raise CommandError(f"{result.failed} rules and {paid.failed} cards failed.")
