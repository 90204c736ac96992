"""`end_moderation`: end blind content, remove what staff deleted."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from board.moderation.expiry import finish_moderation


class Command(BaseCommand):
    help = (
        "Shows blind posts and comments again whose author has objected, deletes the "
        "other ones, and removes what staff deleted long enough ago. Beat does the "
        "same every hour; running both at the same time is safe."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{finish_moderation(timezone.now())} rows ended.")
