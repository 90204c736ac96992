"""Runs of periodic jobs."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class JobRun(models.Model):
    class State(models.TextChoices):
        RUNNING = "RUNNING"
        DONE = "DONE"
        FAILED = "FAILED"
        SKIPPED = "SKIPPED", "skipped, another run was under way"

    # The name in CELERY_BEAT_SCHEDULE.
    job = models.CharField(max_length=50)
    state = models.CharField(max_length=7, choices=State.choices)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    count = models.BigIntegerField(null=True)
    # The class of the exception: its message may contain members' data.
    error = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "job_run"
        verbose_name = _("job run")
        verbose_name_plural = _("job runs")
        ordering = ["-started_at", "-id"]
        indexes = [
            models.Index(fields=["job", "-started_at"], name="job_run_by_job"),
            models.Index(fields=["started_at"], name="job_run_by_start"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["job"],
                condition=models.Q(state="RUNNING"),
                name="job_run_one_running",
            )
        ]

    def __str__(self) -> str:
        return f"{self.job} {self.started_at:%Y-%m-%d %H:%M} {self.state}"


class JobRange(models.Model):
    run = models.ForeignKey(JobRun, on_delete=models.CASCADE, related_name="ranges")
    # Both inclusive.
    first_id = models.BigIntegerField()
    last_id = models.BigIntegerField()
    ended_at = models.DateTimeField(null=True)
    count = models.BigIntegerField(null=True)
    error = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        db_table = "job_range"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.first_id} to {self.last_id} of {self.run_id}"

    @property
    def lease_name(self) -> str:
        return f"job range {self.pk}"
