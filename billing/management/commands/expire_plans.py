"""`expire_plans`: run the hourly job by hand."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from billing.plan_expiry import run_expiry
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Sets members whose plan has lapsed and does not renew itself to FREE, also "
        "those whose purchase was made in the test mode, or all of these once the mode "
        "is off. With a "
        "store that can be asked (STORE_VERIFIER), first refreshes lapsed plans that "
        "renew themselves, then retries acknowledgements of purchases and reads "
        "what was paid for new ones; deletes the store's notifications after 180 "
        "days. Beat does the same every hour; it is safe to run twice, or at "
        "the same time as Beat. Exits with 1 if the store did not respond; plans that "
        "it was not asked about stay as they are."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        result = run_expiry(timezone.now(), Progress(self.stderr.write))
        self.stdout.write(
            f"{result.expired} plans expired, {result.refreshed} refreshed, "
            f"{result.acknowledged} acknowledged, {result.orders} orders read, "
            f"{result.purged} notifications purged."
        )
        if result.failed:
            raise CommandError(f"{result.failed} purchases without a response.")
