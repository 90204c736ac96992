"""The second factor and the security log (spec 2.16, 2.17)."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Member
from accounts.models.sessions import MAX_NAME_LENGTH
from core.client import Client
from core.db.rows import prepared_cursor

DIGEST_LENGTH = 64


class TotpFactor(models.Model):
    """An authenticator app; `sealed_seed` is NULL until confirmed."""

    member = models.OneToOneField(
        Member, on_delete=models.CASCADE, primary_key=True, related_name="totp_factor"
    )
    sealed_seed = models.BinaryField(null=True)
    # Newest spent step: each code counts once.
    last_step = models.BigIntegerField(default=0)
    confirmed_at = models.DateTimeField(null=True)
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

    @property
    def sealing_context(self) -> str:
        return f"totp {self.pk}"


class RecoveryCode(models.Model):
    """A code that stands for the second factor once.

    `index` is its first part and names the hash to compute.
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
    """A login before its second factor, under the SHA-256 of its key."""

    digest = models.CharField(max_length=DIGEST_LENGTH, primary_key=True)
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, related_name="login_tickets"
    )
    # A changed password ends the ticket.
    auth_hash = models.CharField(max_length=128)
    attempts = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField(db_index=True)
    device_name = models.CharField(max_length=MAX_NAME_LENGTH, default="")
    extra = models.JSONField(default=dict)
    # The identity whose login it is, which the code may link.
    sealed_identity = models.BinaryField(null=True)

    class Meta:
        db_table = "login_ticket"

    def __str__(self) -> str:
        return f"login of member {self.member_id}"

    @property
    def sealing_context(self) -> str:
        return f"login ticket {self.digest}"


# The device has the name of the session unless a name is given.
_INSERT = """
    INSERT INTO security_event
        (member_id, kind, at, is_by_staff, ip_address, device_name, client, detail)
    VALUES (
        %(member_id)s, %(kind)s, %(at)s, %(is_by_staff)s, %(ip_address)s,
        COALESCE(
            %(device_name)s::text,
            (SELECT name FROM auth_session WHERE key_hash = %(key_hash)s),
            ''
        ),
        %(client)s, %(detail)s
    )
"""


class SecurityLogManager(models.Manager["SecurityLogEntry"]):
    def record(
        self,
        member_id: int,
        kind: str,
        client: Client,
        *,
        detail: str = "",
        device_name: str | None = None,
        is_by_staff: bool = False,
    ) -> None:
        if is_by_staff:
            client, device_name = Client(), ""
        with prepared_cursor() as cursor:
            cursor.execute(
                _INSERT,
                {
                    "member_id": member_id,
                    "kind": kind,
                    "at": timezone.now(),
                    "is_by_staff": is_by_staff,
                    "ip_address": client.address or None,
                    "device_name": device_name,
                    "key_hash": client.session_key_hash,
                    "client": client.name,
                    "detail": detail[:MAX_NAME_LENGTH],
                },
            )


class SecurityLogEntry(models.Model):
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
        RESTORED = "RESTORED"
        SUPPORT_VIEWED = "SUPPORT_VIEWED"

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, related_name="security_log", db_index=False
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    at = models.DateTimeField(default=timezone.now)
    # Empty where staff act: address, device and client.
    is_by_staff = models.BooleanField(default=False)
    ip_address = models.GenericIPAddressField(null=True)
    device_name = models.CharField(max_length=MAX_NAME_LENGTH, default="")
    client = models.CharField(max_length=60, default="")
    # The name of a token or of the device whose session was ended.
    detail = models.CharField(max_length=MAX_NAME_LENGTH, default="")

    objects = SecurityLogManager()

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
