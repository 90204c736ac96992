"""Celery tasks of the board."""

from celery import shared_task
from django.utils import timezone

from board.image_objects import delete_due_objects, has_due_objects
from board.images import purge_unused_images
from board.moderation.expiry import finish_moderation
from core.jobs.runner import run_job


@shared_task  # type: ignore[untyped-decorator]
def end_moderation() -> None:
    """End blind content, and remove what staff deleted long enough ago; hourly."""
    run_job("end_moderation", finish_moderation)


@shared_task  # type: ignore[untyped-decorator]
def purge_images() -> None:
    """Delete unused images; daily."""
    run_job("purge_images", purge_unused_images)


@shared_task  # type: ignore[untyped-decorator]
def delete_image_objects() -> None:
    """Delete the objects of deleted images; every minute."""
    if has_due_objects(timezone.now()):
        run_job("delete_image_objects", delete_due_objects)
