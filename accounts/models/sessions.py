"""Session rows, the persistent mirror of the session cache (spec 1.7)."""

from django.db import models

from accounts.models.members import MAX_DISPLAY_NAME_LENGTH, Member


class AuthSession(models.Model):
    """A session, stored under the SHA-256 of its key; the key itself is not stored.

    A trigger copies a member's new plan or name into the member's rows and raises
    their version, also after a change of role or status.
    """

    key_hash = models.CharField(max_length=64, primary_key=True)
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, null=True, related_name="sessions"
    )
    plan = models.CharField(max_length=7, default="")
    display_name = models.CharField(max_length=MAX_DISPLAY_NAME_LENGTH, default="")
    data = models.JSONField(default=dict)
    # Raised by every change: an older cache entry must not replace a newer one.
    version = models.BigIntegerField(default=1)
    created_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)
    ip_address = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=200, default="")

    class Meta:
        db_table = "auth_session"
        ordering = ["-last_seen_at", "key_hash"]

    def __str__(self) -> str:
        return f"session of {self.display_name or 'an anonymous visitor'}"
