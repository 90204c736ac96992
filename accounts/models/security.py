"""The second factor, its tickets, and the security log (spec 2.16, 2.17)."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Member
from accounts.models.sessions import MAX_NAME_LENGTH

DIGEST_LENGTH = 64


class TotpFactor(models.Model):
    """The authenticator app of a member; `sealed_seed` is NULL until it is confirmed.

    `last_step` is the newest step whose code was taken: each counts once.
    """

    member = models.OneToOneField(
        Member, on_delete=models.CASCADE, primary_key=True, related_name="totp_factor"
    )
    sealed_seed = models.BinaryField(null=True)
    last_step = models.BigIntegerField(default=0)
    confirmed_at = models.DateTimeField(null=True)
    # The next seed, until its first code confirms it.
    pending_seed = models.BinaryField(null=True)
    pending_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "totp_factor"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(sealed_seed__isnull=True, confirmed_at__isnull=True)
                | models.Q(sealed_seed__isnull=False, confirmed_at__isnull=False),
                name="totp_factor_confirmed",
            )
        ]

    def __str__(self) -> str:
        return f"authenticator of member {self.pk}"


class RecoveryCode(models.Model):
    """A code that stands for the second factor once; only its hash is stored.

    The index is the part of the code that says which hash to compute.
    """

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, related_name="recovery_codes", db_index=False
    )
    index = models.CharField(max_length=2)
    hash = models.CharField(max_length=128)
    spent_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "recovery_code"
        constraints = [
            models.UniqueConstraint(
                fields=["member", "index"], name="recovery_code_unique"
            )
        ]

    def __str__(self) -> str:
        return f"recovery code of member {self.member_id}"


class LoginTicket(models.Model):
    """A login that waits for its second factor, stored under the SHA-256 of its key."""

    digest = models.CharField(max_length=DIGEST_LENGTH, primary_key=True)
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, related_name="login_tickets"
    )
    # Of the password at the first step: with another one the ticket is dead.
    auth_hash = models.CharField(max_length=128)
    attempts = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField(db_index=True)
    device_name = models.CharField(max_length=MAX_NAME_LENGTH, default="")
    # What the answer to the login has beside the session.
    extra = models.JSONField(default=dict)

    class Meta:
        db_table = "login_ticket"

    def __str__(self) -> str:
        return f"login of member {self.member_id}"


class SecurityLogEntry(models.Model):
    """Something that happened to how an account is accessed, as its member sees it."""

    class Kind(models.TextChoices):
        LOGIN = "LOGIN"
        LOGIN_FAILED = "LOGIN_FAILED"
        LOGOUT = "LOGOUT"
        SESSION_ENDED = "SESSION_ENDED"
        PASSWORD_CHANGED = "PASSWORD_CHANGED"  # noqa: S105
        PASSWORD_RESET = "PASSWORD_RESET"  # noqa: S105
        EMAIL_CHANGED = "EMAIL_CHANGED"
        FACTOR_ADDED = "FACTOR_ADDED"
        FACTOR_REMOVED = "FACTOR_REMOVED"
        IDENTITY_LINKED = "IDENTITY_LINKED"
        IDENTITY_REMOVED = "IDENTITY_REMOVED"
        TOKEN_CREATED = "TOKEN_CREATED"  # noqa: S105
        TOKEN_REVOKED = "TOKEN_REVOKED"  # noqa: S105
        EXPORTED = "EXPORTED"

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, related_name="security_log", db_index=False
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    at = models.DateTimeField(default=timezone.now)
    # Staff and commands leave the three after it empty.
    is_by_staff = models.BooleanField(default=False)
    ip_address = models.GenericIPAddressField(null=True)
    device_name = models.CharField(max_length=MAX_NAME_LENGTH, default="")
    client = models.CharField(max_length=60, default="")
    # The name of a token or of the device whose session was ended.
    detail = models.CharField(max_length=MAX_NAME_LENGTH, default="")

    class Meta:
        db_table = "security_event"
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["member", "-id"], name="security_event_list"),
            models.Index(
                fields=["member", "kind", "-at"], name="security_event_of_kind"
            ),
            models.Index(fields=["at"], name="security_event_age"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of member {self.member_id}"
