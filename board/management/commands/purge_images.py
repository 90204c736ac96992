"""`purge_images`: delete the images that no post shows."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from board.images import purge_unused_images
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Deletes the images that no post has shown for a day: uploads that were never "
        "used, and those of posts that were edited or deleted. Beat does the same once "
        "a day; it is safe to run twice, or at the same time as Beat."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        purged = purge_unused_images(timezone.now(), Progress(self.stderr.write))
        self.stdout.write(f"{purged} images purged.")
