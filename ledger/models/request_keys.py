"""Answers of requests that had an `Idempotency-Key`."""

from django.db import models

from core.api.keyed_answers import KeyedAnswer
from core.api.recording import OPERATION_ID
from core.db.constraints import CompositeForeignKey
from ledger.models.base import OwnedModel


class RequestKey(KeyedAnswer, OwnedModel):
    """The answer of a request, written in the transaction of its effect (spec 3.23)."""

    owner_columns = ("member_id", "caller_id")
    header_columns = {"operation_id": OPERATION_ID}

    pk = models.CompositePrimaryKey("member_id", "caller_id", "key")
    # Who sent it.
    caller_id = models.BigIntegerField()
    # Null if the request is no recorded operation (spec 3.27).
    operation_id = models.BigIntegerField(null=True)

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
