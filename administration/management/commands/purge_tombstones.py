"""`purge_tombstones`: forget the rows that were deleted long ago."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from administration.request_keys import find_last_member
from administration.tombstones import purge_old_tombstones


class Command(BaseCommand):
    help = (
        "Deletes what is left of rows that were deleted more than half a year ago, for "
        "clients that keep a copy of a ledger. Beat does the same once a day; it is "
        "safe to run twice, or at the same time as Beat."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = purge_old_tombstones(timezone.now(), 1, find_last_member())
        self.stdout.write(f"{purged} tombstones purged.")
