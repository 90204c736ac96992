"""Celery tasks of the board."""

from celery import shared_task

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
