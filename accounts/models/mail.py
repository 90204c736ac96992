"""The outbox of mails, and the codes that they bring to members (spec 2.10 on)."""

import uuid

from django.db import models
from django.utils import timezone

from accounts.models.members import Member

MAX_EMAIL_LENGTH = 254


class Mail(models.Model):
    """A mail, written in the transaction of its reason and sent by a job.

    `content` is sealed and wiped when the mail was sent or given up.
    """

    class State(models.TextChoices):
        WAITING = "WAITING"
        SENT = "SENT"
        GIVEN_UP = "GIVEN_UP"

    # None for one that is about several accounts with the same address.
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, null=True, related_name="mails"
    )
    template = models.CharField(max_length=40)
    # The same at each attempt, so that a mail that was sent twice shows once.
    message_id = models.CharField(max_length=255, unique=True)
    content = models.BinaryField(null=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    # The version of the row, too: only the newest attempt says how it ended.
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    # The class or the SMTP status of the last failure; no text of the server.
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
    """A request for a code by mail; there is one for each that anybody makes.

    One for a forgotten password names what was typed, sealed, until a job has found the
    accounts. It exists, and counts its tries, also if there is no such account.
    """

    class Purpose(models.TextChoices):
        VERIFY_EMAIL = "VERIFY_EMAIL"
        RESET_PASSWORD = "RESET_PASSWORD"  # noqa: S105

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    purpose = models.CharField(max_length=14, choices=Purpose.choices)
    # None for a typed login id or address, which is in `target` then.
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, null=True, related_name="code_requests"
    )
    target = models.BinaryField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)
    # None while the job has to send the codes.
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
    """A code that was sent to a member; its row exists until it is spent or ended."""

    request = models.ForeignKey(
        CodeRequest, on_delete=models.CASCADE, related_name="codes"
    )
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="codes")
    mail = models.ForeignKey(
        Mail, on_delete=models.SET_NULL, null=True, related_name="codes"
    )
    # The address to which it was sent.
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
