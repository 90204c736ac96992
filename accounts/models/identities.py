"""Identities of members at identity providers (spec 2.18)."""

from django.db import models

from accounts.models.members import Member

MAX_SUBJECT_LENGTH = 255


class LinkedIdentity(models.Model):
    """An identity that logs a member in; the subject is also `Member.idp_id`."""

    class Provider(models.TextChoices):
        GOOGLE = "google", "Google"

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, related_name="identities", db_index=False
    )
    provider = models.CharField(max_length=20, choices=Provider.choices)
    subject = models.CharField(max_length=MAX_SUBJECT_LENGTH)
    # Address that the provider has verified, at the last login; empty if unknown.
    email = models.CharField(max_length=254, blank=True, default="")
    # NULL for a link from before there were rows.
    linked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "identity"
        ordering = ["provider"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "provider"], name="identity_of_member"
            ),
            models.UniqueConstraint(
                fields=["provider", "subject"], name="identity_subject"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} identity of member {self.member_id}"


class RemovedIdentity(models.Model):
    """A subject that its member has removed: no address links it again."""

    member = models.ForeignKey(
        Member,
        on_delete=models.CASCADE,
        related_name="removed_identities",
        db_index=False,
    )
    provider = models.CharField(max_length=20, choices=LinkedIdentity.Provider.choices)
    # Keyed hash of the subject.
    digest = models.BinaryField()

    class Meta:
        db_table = "removed_identity"
        constraints = [
            models.UniqueConstraint(
                fields=["member", "provider", "digest"], name="removed_identity_unique"
            )
        ]

    def __str__(self) -> str:
        return f"removed {self.provider} identity of member {self.member_id}"
