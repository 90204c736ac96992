"""`expire_plans`: end memberships that have passed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from billing.plan_expiry import run_expiry
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Sets every member whose plan has passed and does not renew itself to FREE. "
        "With a store that can be asked (STORE_VERIFIER), asks it first about plans "
        "that have passed and renew themselves, acknowledges purchases that could not "
        "be acknowledged, and deletes notifications of the store after 180 days. Beat "
        "does the same every hour; running it twice, or beside Beat, does no harm. "
        "Exits with 1 if the store did not answer; plans it was not asked about stay "
        "as they are."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        run = run_expiry(timezone.now(), Progress(self.stderr.write))
        self.stdout.write(
            f"{run.expired} plans expired, {run.refreshed} asked about, "
            f"{run.acknowledged} acknowledged, {run.purged} notifications purged."
        )
        if run.failed:
            raise CommandError(f"{run.failed} purchases without an answer.")
