"""Mails and codes in them (spec 2.10)."""

import uuid

from django.db import models
from django.utils import timezone

from accounts.models.members import Member

MAX_EMAIL_LENGTH = 254


class Mail(models.Model):
    """A mail; `content` is sealed, and wiped at the end."""

    class State(models.TextChoices):
        WAITING = "WAITING"
        SENT = "SENT"
        GIVEN_UP = "GIVEN_UP"

    # NULL if several accounts share the address.
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, null=True, related_name="mails"
    )
    template = models.CharField(max_length=40)
    # Equal at each attempt: mail programs then hide repetitions.
    message_id = models.CharField(max_length=255, unique=True)
    content = models.BinaryField(null=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    # Version of the row: only the newest attempt writes its result.
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    # SMTP status or class of the last failure.
    error = models.CharField(max_length=60, default="")

    class Meta:
        db_table = "mail"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state="WAITING", content__isnull=False, ended_at__isnull=True
                )
                | models.Q(
                    ~models.Q(state="WAITING"),
                    content__isnull=True,
                    ended_at__isnull=False,
                ),
                name="mail_content_until_ended",
            )
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at", "id"],
                condition=models.Q(state="WAITING"),
                name="mail_waiting",
            ),
            models.Index(
                fields=["ended_at"],
                condition=models.Q(ended_at__isnull=False),
                name="mail_ended",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.template} mail {self.pk}"


class CodeRequest(models.Model):
    """A request for a code by mail, which exists without an account too.

    `target` is the typed login id or address, sealed.
    """

    class Purpose(models.TextChoices):
        VERIFY_EMAIL = "VERIFY_EMAIL"
        RESET_PASSWORD = "RESET_PASSWORD"  # noqa: S105
        DELETE_ACCOUNT = "DELETE_ACCOUNT"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    purpose = models.CharField(max_length=14, choices=Purpose.choices)
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, null=True, related_name="code_requests"
    )
    target = models.BinaryField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)
    # NULL until the job has sent the codes.
    processed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "code_request"
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(processed_at__isnull=True),
                name="code_request_waiting",
            )
        ]

    def __str__(self) -> str:
        return f"{self.purpose} request {self.pk}"


class Code(models.Model):
    request = models.ForeignKey(
        CodeRequest, on_delete=models.CASCADE, related_name="codes"
    )
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="codes")
    mail = models.ForeignKey(
        Mail, on_delete=models.SET_NULL, null=True, related_name="codes"
    )
    email = models.EmailField(max_length=MAX_EMAIL_LENGTH)
    code_hash = models.BinaryField()

    class Meta:
        db_table = "code"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["request", "member"], name="code_one_of_a_request"
            )
        ]

    def __str__(self) -> str:
        return f"code of member {self.member_id}"
