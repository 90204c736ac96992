"""Answers of requests that had an `Idempotency-Key`."""

from django.db import models
from django.db.models.functions import Now

from core.db.constraints import CompositeForeignKey
from ledger.models.base import OwnedModel

MAX_KEY_LENGTH = 128


class RequestKey(OwnedModel):
    """The answer of a request, written in the transaction of its effect (spec 3.23)."""

    pk = models.CompositePrimaryKey("member_id", "caller_id", "key")
    # Who sent it.
    caller_id = models.BigIntegerField()
    key = models.CharField(max_length=MAX_KEY_LENGTH)
    # Keyed hash of what was asked for.
    fingerprint = models.BinaryField()
    status = models.SmallIntegerField()
    # JSON, encrypted as account numbers are; null for no content.
    body = models.BinaryField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "account_request_key"
        ordering = ["created_at"]
        constraints = [
            CompositeForeignKey(
                name="account_request_key_in_ledger",
                fields=["member"],
                to="ledger.Ledger",
                to_fields=["member"],
            ),
        ]
        indexes = [
            # The oldest ones go first.
            models.Index(
                fields=["member", "caller_id", "created_at"],
                name="account_request_key_by_age",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.status}"
