"""Reports, the cases that they open, and the decisions of staff (spec 5.10)."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from board.models.content import TITLE_LENGTH

NOTE_LENGTH = 500
APPEAL_LENGTH = 1_000


class TargetType(models.TextChoices):
    POST = "POST"
    COMMENT = "COMMENT"
    MEMBER = "MEMBER"


class ReportReason(models.TextChoices):
    SPAM = "SPAM", _("spam")
    ABUSE = "ABUSE", _("abuse")
    SEXUAL = "SEXUAL", _("sexual content")
    ILLEGAL = "ILLEGAL", _("illegal content")
    PERSONAL_DATA = "PERSONAL_DATA", _("personal data")
    # Only people from outside report it; staff give it as a reason.
    DEFAMATION = "DEFAMATION", _("defamation")
    OTHER = "OTHER", _("another reason")


class ModerationCase(models.Model):
    """All that is said about one post, comment or member until staff decide.

    It outlives its target. `title` and `content` are copies from the day it was opened.
    """

    class Kind(models.TextChoices):
        REPORT = "REPORT"
        # A newcomer's post that waits for staff.
        HELD = "HELD"
        # A notice from somebody without an account.
        NOTICE = "NOTICE"
        # Staff acted without a report.
        STAFF = "STAFF"

    class Status(models.TextChoices):
        # Reports after a dismissal, too few to open it again.
        WAITING = "WAITING"
        OPEN = "OPEN"
        RESOLVED = "RESOLVED"

    class Gone(models.TextChoices):
        AUTHOR = "AUTHOR"
        STAFF = "STAFF"

    kind = models.CharField(max_length=6, choices=Kind.choices)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.OPEN)
    target_type = models.CharField(max_length=7, choices=TargetType.choices)
    target_id = models.BigIntegerField()
    # The post itself, or the one that the comment stands under.
    post_id = models.BigIntegerField(null=True)
    # Who wrote the target, or is it; null once they have left. Without a constraint:
    # who reports would wait for the author's row while they hold the author's post.
    author = models.ForeignKey(
        Member,
        on_delete=models.DO_NOTHING,
        db_index=False,
        db_constraint=False,
        null=True,
        related_name="+",
    )
    # Of the first report; empty if nobody gave one.
    reason = models.CharField(
        max_length=13, choices=ReportReason.choices, blank=True, default=""
    )
    title = models.CharField(max_length=TITLE_LENGTH, blank=True, default="")
    content = models.TextField(blank=True, default="")
    report_count = models.IntegerField(default=0)
    # Who deleted the target meanwhile.
    target_gone = models.CharField(max_length=6, choices=Gone.choices, null=True)
    opened_at = models.DateTimeField(db_default=Now())
    # A post that was held from the start gets its points when it is first shown.
    owes_points = models.BooleanField(default=False)
    # When the job shows or deletes blind content.
    blind_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "board_case"
        verbose_name = _("case")
        verbose_name_plural = _("cases")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["target_type", "target_id"],
                condition=Q(status__in=("OPEN", "WAITING")),
                name="board_case_one_open",
            ),
            models.CheckConstraint(
                condition=Q(report_count__gte=0),
                name="board_case_report_count_not_negative",
            ),
        ]
        indexes = [
            models.Index(
                fields=["id"],
                include=["kind", "reason"],
                condition=Q(status="OPEN"),
                name="board_case_queue",
            ),
            models.Index(
                fields=["target_type", "target_id", "-id"], name="board_case_of_target"
            ),
            models.Index(
                fields=["author", "-id"],
                condition=Q(author__isnull=False),
                name="board_case_of_author",
            ),
            models.Index(
                fields=["blind_until"],
                condition=Q(blind_until__isnull=False),
                name="board_case_blind",
            ),
            models.Index(
                fields=["opened_at"],
                condition=Q(kind="HELD"),
                name="board_case_held_by_day",
            ),
        ]

    def __str__(self) -> str:
        return f"case {self.pk}"

    @property
    def is_resolved(self) -> bool:
        return self.status == self.Status.RESOLVED


class Report(models.Model):
    """What one member reported; only staff learn who."""

    class Outcome(models.TextChoices):
        UPHELD = "UPHELD"
        DISMISSED = "DISMISSED"

    case = models.ForeignKey(
        ModerationCase,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="reports",
    )
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    reason = models.CharField(max_length=13, choices=ReportReason.choices)
    note = models.CharField(max_length=NOTE_LENGTH, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())
    # Null until staff decide.
    outcome = models.CharField(max_length=9, choices=Outcome.choices, null=True)

    class Meta:
        db_table = "board_report"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["case", "member"], name="board_report_once")
        ]
        indexes = [
            models.Index(
                fields=["member"], include=["outcome"], name="board_report_by_member"
            )
        ]

    def __str__(self) -> str:
        return f"report {self.pk}"


class Decision(models.Model):
    """What was done in a case, why, and what its author says against it."""

    class Action(models.TextChoices):
        DISMISS = "DISMISS"
        HIDE = "HIDE"
        BLIND = "BLIND"
        DELETE = "DELETE"
        # Only the author is silenced.
        SILENCE = "SILENCE"

    case = models.ForeignKey(
        ModerationCase,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="decisions",
    )
    action = models.CharField(max_length=7, choices=Action.choices)
    reason = models.CharField(
        max_length=13, choices=ReportReason.choices, blank=True, default=""
    )
    # For staff.
    note = models.CharField(max_length=NOTE_LENGTH, blank=True, default="")
    silence_days = models.IntegerField(null=True)
    # Null for the service itself, and for staff who have left.
    actor = models.ForeignKey(
        Member, on_delete=models.SET_NULL, db_index=False, null=True, related_name="+"
    )
    # Reports alone have hidden the target: the case stays open.
    is_automatic = models.BooleanField(default=False)
    decided_at = models.DateTimeField(db_default=Now())
    # It answers an appeal, and cannot be appealed again.
    is_final = models.BooleanField(default=False)
    appeal = models.CharField(max_length=APPEAL_LENGTH, null=True)
    appealed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "board_decision"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(appeal=None, appealed_at=None)
                | Q(appeal__isnull=False, appealed_at__isnull=False),
                name="board_decision_appeal_has_time",
            ),
            models.CheckConstraint(
                condition=Q(silence_days=None) | Q(silence_days__gt=0),
                name="board_decision_silence_positive",
            ),
        ]
        indexes = [
            models.Index(fields=["case", "id"], name="board_decision_of_case"),
            models.Index(fields=["decided_at"], name="board_decision_by_day"),
            models.Index(
                fields=["actor"],
                condition=Q(actor__isnull=False),
                name="board_decision_by_actor",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} in case {self.case_id}"
