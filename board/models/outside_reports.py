"""Reports of people without an account (spec 5.13)."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower, Now

from accounts.models import Member
from accounts.models.mail import MAX_EMAIL_LENGTH
from board.models.cases import ModerationCase, ReportReason, TargetType

MAX_REPORTER_NAME_LENGTH = 100
OUTSIDE_TEXT_LENGTH = 1_000


class OutsideReport(models.Model):
    """A report by somebody without an account; only staff learn who.

    It gets its case when the code that was mailed to the address is confirmed.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    case = models.ForeignKey(
        ModerationCase,
        on_delete=models.CASCADE,
        db_index=False,
        null=True,
        related_name="outside_reports",
    )
    target_type = models.CharField(max_length=7, choices=TargetType.choices)
    target_id = models.BigIntegerField()
    reason = models.CharField(max_length=13, choices=ReportReason.choices)
    text = models.CharField(max_length=OUTSIDE_TEXT_LENGTH)
    # Name and address are wiped some time after the decision.
    name = models.CharField(max_length=MAX_REPORTER_NAME_LENGTH, blank=True)
    email = models.EmailField(max_length=MAX_EMAIL_LENGTH, blank=True)
    language = models.CharField(max_length=2, choices=Member.Locale.choices)
    code_hash = models.BinaryField()
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "board_outside_report"
        ordering = ["created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(case=None, confirmed_at=None)
                | Q(case__isnull=False, confirmed_at__isnull=False),
                name="board_outside_report_confirmed_has_case",
            ),
            models.UniqueConstraint(
                "case",
                Lower("email"),
                condition=~Q(email=""),
                name="board_outside_report_once",
            ),
        ]
        indexes = [
            models.Index(fields=["case"], name="board_outside_report_of_case"),
            models.Index(
                fields=["expires_at"],
                condition=Q(confirmed_at=None),
                name="board_outside_unconfirmed",
            ),
            models.Index(
                fields=["confirmed_at"],
                condition=Q(confirmed_at__isnull=False) & ~Q(email=""),
                name="board_outside_with_address",
            ),
        ]

    def __str__(self) -> str:
        return f"outside report {self.pk}"

    @property
    def target_path(self) -> str:
        """Return `posts/12` or `comments/34`."""
        folder = "posts" if self.target_type == TargetType.POST else "comments"
        return f"{folder}/{self.target_id}"
