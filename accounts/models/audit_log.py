"""The audit log of administrators."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models.members import MAX_LOGIN_ID_LENGTH


class AuditLogEntry(models.Model):
    """What an administrator changed or read; a trigger keeps the row from changes.

    Without foreign keys, the log outlives its authors and targets.
    """

    class Action(models.TextChoices):
        ADDITION = "ADDITION"
        CHANGE = "CHANGE"
        DELETION = "DELETION"
        # Of the log, or of an account for support.
        READ = "READ"
        # Of a list as a CSV file.
        EXPORT = "EXPORT"

    at = models.DateTimeField(default=timezone.now)
    actor_id = models.BigIntegerField()
    actor_name = models.CharField(max_length=MAX_LOGIN_ID_LENGTH)
    action = models.CharField(max_length=8, choices=Action.choices)
    # A label such as `accounts.Member`.
    target_type = models.CharField(max_length=100)
    target_id = models.CharField(max_length=100)
    target_label = models.CharField(max_length=200)
    text = models.CharField(max_length=500, blank=True, default="")
    request_id = models.CharField(max_length=24, blank=True, default="")

    class Meta:
        db_table = "audit_log"
        ordering = ["-id"]
        verbose_name = _("log entry")
        verbose_name_plural = _("log entries")
        indexes = [
            models.Index(
                fields=["target_type", "target_id", "-id"], name="audit_log_target"
            ),
            models.Index(fields=["actor_id", "-id"], name="audit_log_actor"),
            models.Index(fields=["actor_name", "-id"], name="audit_log_actor_name"),
            models.Index(fields=["action", "-id"], name="audit_log_action"),
            models.Index(fields=["target_id", "-id"], name="audit_log_target_id"),
            models.Index(fields=["at"], name="audit_log_at"),
        ]

    def __str__(self) -> str:
        return f"{self.action} of {self.target_label} by {self.actor_name}"
