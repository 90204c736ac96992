"""Terms and other documents, and who has agreed to them (spec 2.20)."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models.members import Member

MAX_VERSION_LENGTH = 20
MAX_TITLE_LENGTH = 200
MAX_BODY_LENGTH = 100_000


class LegalDocument(models.Model):
    """A version of a document in one language; a trigger keeps it from changes."""

    class Kind(models.TextChoices):
        TERMS = "TERMS"
        PRIVACY = "PRIVACY"
        COMMUNITY = "COMMUNITY"
        # "I am 14 or older."
        AGE = "AGE"
        MARKETING = "MARKETING"

    kind = models.CharField(max_length=9, choices=Kind.choices)
    version = models.CharField(max_length=MAX_VERSION_LENGTH)
    locale = models.CharField(max_length=2, choices=Member.Locale.choices)
    title = models.CharField(max_length=MAX_TITLE_LENGTH)
    # Plain text.
    body = models.TextField()
    effective_at = models.DateTimeField()
    required = models.BooleanField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "legal_document"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "version", "locale"], name="legal_document_version"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=("TERMS", "PRIVACY", "COMMUNITY", "AGE"))
                | Q(kind="MARKETING", required=False),
                name="legal_document_marketing_is_optional",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.version} ({self.locale})"


class Consent(models.Model):
    """What a member said to a document; a later row counts, none is changed."""

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    document = models.ForeignKey(
        LegalDocument, on_delete=models.PROTECT, db_index=False, related_name="+"
    )
    accepted = models.BooleanField()
    at = models.DateTimeField(db_default=Now())
    ip_address = models.GenericIPAddressField(null=True)

    class Meta:
        db_table = "consent"
        ordering = ["id"]
        indexes = [
            models.Index(fields=["member", "id"], name="consent_of_member"),
            models.Index(
                fields=["document", "at"],
                condition=Q(accepted=True),
                name="consent_by_day",
            ),
        ]

    def __str__(self) -> str:
        return f"consent of member {self.member_id} to {self.document_id}"


class ConsentReminder(models.Model):
    """A reminder of a marketing consent; it outlives the item of the inbox."""

    consent = models.ForeignKey(
        Consent, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    # 1 after two years, 2 after four.
    number = models.SmallIntegerField()
    reminded_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "consent_reminder"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["consent", "number"], name="consent_reminder_once"
            )
        ]

    def __str__(self) -> str:
        return f"reminder {self.number} of consent {self.consent_id}"


class ConsentCount(models.Model):
    """How often a document was accepted and refused; it outlives the members.

    Triggers only insert rows, so that writers never wait for each other.
    """

    document = models.ForeignKey(
        LegalDocument, on_delete=models.PROTECT, db_index=False, related_name="+"
    )
    accepted = models.BooleanField()
    count = models.BigIntegerField()

    class Meta:
        db_table = "consent_count"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.count} to {self.document_id}"
