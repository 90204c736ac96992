"""`purge_request_keys`: delete the keys of requests that are too old."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from administration.request_keys import find_last_member, purge_keys


class Command(BaseCommand):
    help = (
        "Deletes the keys of requests that are older than a week, with the answers "
        "they stand for. Beat does the same once a day; it is safe to run twice, or at "
        "the same time as Beat."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = purge_keys(timezone.now(), 1, find_last_member())
        self.stdout.write(f"{purged} keys purged.")
