"""Rows of sessions and personal tokens (spec 1.7)."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.db import models

from accounts.models.members import MAX_DISPLAY_NAME_LENGTH, Member

MAX_NAME_LENGTH = 60
MAX_SCOPE_LENGTH = 30


class AuthSession(models.Model):
    """A session or personal token, under the SHA-256 of its key.

    A trigger raises the version after a change of the member's name, plan, role or
    status.
    """

    class Kind(models.TextChoices):
        SESSION = "SESSION"
        TOKEN = "TOKEN"  # noqa: S105  # a kind, no secret

    key_hash = models.CharField(max_length=64, primary_key=True)
    # The `id` for clients; the hash belongs to a credential.
    public_id = models.UUIDField(db_default=RandomUUID(), unique=True, editable=False)
    kind = models.CharField(
        max_length=7, choices=Kind.choices, db_default=Kind.SESSION, editable=False
    )
    # NULL for a session.
    scopes = ArrayField(models.CharField(max_length=MAX_SCOPE_LENGTH), null=True)
    name = models.CharField(max_length=MAX_NAME_LENGTH, db_default="", default="")
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, null=True, related_name="sessions"
    )
    plan = models.CharField(max_length=7, default="")
    display_name = models.CharField(max_length=MAX_DISPLAY_NAME_LENGTH, default="")
    data = models.JSONField(default=dict)
    # Rises with every change, so that old cache entries lose.
    version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField()
    # NULL for an unused token.
    last_seen_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(db_index=True)
    # End of the time in `accounts.login.fresh`.
    fresh_until = models.DateTimeField(null=True)
    # The same after a proof by the second factor, which changes of factors ask for.
    factor_fresh_until = models.DateTimeField(null=True)
    # The provider whose identity has logged in, or empty; NULL before it was recorded.
    identity_provider = models.CharField(max_length=20, null=True)
    # Time of the notice that the token ends.
    expiry_notified_at = models.DateTimeField(null=True)
    ip_address = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=200, default="")

    class Meta:
        db_table = "auth_session"
        ordering = ["-last_seen_at", "key_hash"]
        constraints = [
            # A token without scopes would pass for a session.
            models.CheckConstraint(
                condition=models.Q(kind="SESSION", scopes__isnull=True)
                | models.Q(kind="TOKEN", scopes__isnull=False, member__isnull=False),
                name="auth_session_scopes",
            )
        ]

    def __str__(self) -> str:
        return f"session of {self.display_name or 'an anonymous visitor'}"
