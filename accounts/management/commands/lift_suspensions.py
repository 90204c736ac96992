"""`lift_suspensions`: end suspensions whose time is over."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from accounts.members.suspensions import end_suspensions


class Command(BaseCommand):
    help = (
        "Lets members in again whose suspension had an end that has passed. Beat does "
        "the same every hour; running both at the same time is safe."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{end_suspensions(timezone.now())} suspensions ended.")
