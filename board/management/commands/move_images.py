"""`move_images`: move the bytes of images into the object store, or back."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from board.image_moves import move_images
from core import object_store
from core.object_store import ObjectStoreUnavailableError
from core.progress import Progress


class Command(BaseCommand):
    help = (
        "Moves the bytes of all images of posts to the S3-compatible store of "
        "S3_BUCKET, or back to the database. Set IMAGE_STORE first and restart, so "
        "that new images go there too. Each copy is read and compared before the old "
        "one is dropped. It can be interrupted and repeated, and runs while the "
        "service is up. Exits with 1 if the store fails, or if an image is damaged, "
        "which then stays."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", required=True, choices=["s3", "database"])
        parser.add_argument(
            "--dry-run", action="store_true", help="Count the images, and move none."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not object_store.is_configured():
            raise CommandError("S3_BUCKET is not set.")
        try:
            result = move_images(
                to_store=options["to"] == "s3",
                is_dry_run=options["dry_run"],
                progress=Progress(self.stderr.write),
            )
        except ObjectStoreUnavailableError:
            raise CommandError(
                "The store is unavailable; its log line says why. Run this again."
            ) from None
        verb = "would be moved" if options["dry_run"] else "moved"
        size = filesizeformat(result.moved_bytes).replace("\xa0", " ")
        self.stdout.write(f"{result.moved} images {verb}, {size}.")
        for image_id in result.damaged:
            self.stderr.write(f"image {image_id} is damaged")
        if result.damaged:
            raise CommandError(f"{len(result.damaged)} images are damaged.")
