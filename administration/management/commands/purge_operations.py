"""`purge_operations`: forget what undoes old operations."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from administration.operations import purge_old_operations
from administration.request_keys import find_last_member


class Command(BaseCommand):
    help = (
        "Deletes operations that cannot be undone any more: after 30 days, a restore "
        "after 7. Beat does the same once a day; it is safe to run twice, or at the "
        "same time as Beat."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = purge_old_operations(timezone.now(), 1, find_last_member())
        self.stdout.write(f"{purged} operations purged.")
