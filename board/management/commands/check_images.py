"""`check_images`: compare the images with the objects of the store."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from board.image_checks import check_images
from core import object_store
from core.object_store import ObjectStoreUnavailableError
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Reads the object of each image in the S3-compatible store, and counts the "
        "objects that no image has, such as those written after the moment of a "
        "restore. Exits with 1 if an object is missing or damaged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--delete-orphans",
            action="store_true",
            help=(
                "Have the job delete the objects of more than a day ago that no image "
                "has. Never with the bucket of another installation."
            ),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not object_store.is_configured():
            raise CommandError("S3_BUCKET is not set.")
        try:
            result = check_images(
                timezone.now(),
                deletes_orphans=options["delete_orphans"],
                progress=Progress(self.stderr.write),
            )
        except ObjectStoreUnavailableError:
            raise CommandError(
                "The store is unavailable; its log line says why. Run this again."
            ) from None
        fate = "are to be deleted" if options["delete_orphans"] else "have no image"
        self.stdout.write(
            f"{result.images} images in the store; {result.orphans} objects {fate}."
        )
        for image_id in result.damaged:
            self.stderr.write(f"image {image_id} is missing or damaged")
        if result.damaged:
            raise CommandError(f"{len(result.damaged)} are missing or damaged.")
