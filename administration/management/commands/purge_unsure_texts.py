"""`purge_unsure_texts`: delete texts that nobody has booked for a month."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from administration.request_keys import find_last_member
from administration.unsure_texts import purge_old_texts


class Command(BaseCommand):
    help = (
        "Deletes the texts of notifications that may have been payments and were kept "
        "for 30 days. Beat does the same once a day; it is safe to run twice, or at "
        "the same time as Beat."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = purge_old_texts(timezone.now(), 1, find_last_member())
        self.stdout.write(f"{purged} texts purged.")
