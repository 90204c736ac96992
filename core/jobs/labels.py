"""Jobs and their runs in plain words, for staff."""

from django.utils.translation import gettext_lazy as _

from core.admin.columns import (
    Badges,
    Column,
    Text,
    badge_column,
    number_column,
    text_column,
    time_column,
)
from core.jobs.models import JobRun

STATES: Badges = {
    JobRun.State.RUNNING: (_("Running"), "info"),
    JobRun.State.DONE: (_("Done"), "good"),
    JobRun.State.FAILED: (_("Failed"), "bad"),
    JobRun.State.SKIPPED: (_("Skipped, another run was under way"), "warn"),
}

JOB_LABELS: dict[str, Text] = {
    # Recorded by `script/backup`.
    "backup": _("Back up the database"),
    "purge_sessions": _("Delete ended sessions"),
    "lift_suspensions": _("End suspensions"),
    "snapshot_daily_metrics": _("Store the figures of the day"),
    "end_moderation": _("End blind content, remove deleted content"),
    "expire_plans": _("End expired plans"),
    "process_store_notifications": _("Process notifications of the store"),
    "purge_images": _("Delete unused images"),
    "delete_image_objects": _("Delete images from their store"),
    "purge_imports": _("Delete old files of imports"),
    "purge_request_keys": _("Delete old keys of requests"),
    "purge_operations": _("Forget what undoes old operations"),
    "purge_tombstones": _("Forget rows deleted long ago"),
    "purge_unsure_texts": _("Delete old texts that were not sure"),
    "run_recurring": _("Post recurring entries"),
    "send_mail": _("Send mails"),
}


def get_job_label(name: str) -> str:
    return str(JOB_LABELS.get(name, name))


RUN_COLUMNS = (
    Column("job", _("Job"), lambda run: get_job_label(run.job)),
    badge_column("state", _("State"), STATES),
    time_column("started_at", _("Started"), order="started_at"),
    time_column("ended_at", _("Ended")),
    number_column("count", _("Rows")),
    text_column("error", _("Error")),
)
