"""`delete_image_objects`: delete the objects that no image has."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from board.image_objects import delete_due_objects
from core.object_store import ObjectStoreUnavailableError
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Deletes the objects of deleted and moved images from the S3-compatible store, "
        "and those whose upload broke off an hour ago. Beat does the same once a "
        "minute; it is safe to run twice, or at the same time as Beat. Exits with 1 if "
        "the store fails; the rest is tried again."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            deleted = delete_due_objects(timezone.now(), Progress(self.stderr.write))
        except ObjectStoreUnavailableError:
            raise CommandError(
                "The store did not delete all objects; its log line says why."
            ) from None
        self.stdout.write(f"{deleted} objects deleted.")
