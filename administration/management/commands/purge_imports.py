"""`purge_imports`: delete files that were read a week ago or earlier."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from administration.imports import purge_old_imports
from administration.request_keys import find_last_member


class Command(BaseCommand):
    help = (
        "Deletes what is kept of imported files for a week. Entries, and what tells "
        "their rows apart, stay. Beat does the same once a day; it is safe to run "
        "twice, or at the same time as Beat."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = purge_old_imports(timezone.now(), 1, find_last_member())
        self.stdout.write(f"{purged} imports purged.")
