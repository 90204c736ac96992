"""Card notifications that were processed."""

from django.db import models
from django.db.models import Q

from ledger.models.base import (
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
    OwnedModel,
    owned_constraints,
)

MAX_NOTIF_KEY_LENGTH = 64
NOTIFICATION_KINDS = ("approval", "cancellation")


class Notification(OwnedModel):
    """A payment or cancellation, as the notification describes it (spec 4.5).

    It is kept when its entry is deleted, so that the same text does not create the
    entry again. `value` is the amount in the currency of the payment.
    """

    notif_key = models.CharField(max_length=MAX_NOTIF_KEY_LENGTH)
    kind = models.CharField(max_length=12)
    is_partial = models.BooleanField(default=False)
    card_company = models.CharField(max_length=MAX_NAME_LENGTH, null=True)
    card_hint = models.CharField(max_length=MAX_NAME_LENGTH, null=True)
    # Null for the home currency.
    currency = models.CharField(max_length=3, null=True)
    value = models.DecimalField(max_digits=18, decimal_places=4)
    merchant = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")
    running_total = models.BigIntegerField(null=True)
    balance = models.BigIntegerField(null=True)
    # The time in the text, else the time of receipt.
    happened_at = models.DateTimeField()
    # True if the time comes from the text.
    is_timed = models.BooleanField()
    is_cancelled = models.BooleanField(default=False)
    # No foreign key: the entry may have been deleted.
    entry_id = models.BigIntegerField(null=True)

    class Meta:
        db_table = "account_notification"
        ordering = ["-happened_at", "-id"]
        constraints = [
            *owned_constraints("account_notification"),
            models.UniqueConstraint(
                fields=["member", "notif_key"], name="account_notification_key"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=NOTIFICATION_KINDS),
                name="account_notification_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(value__gt=0), name="account_notification_value_positive"
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "value", "-happened_at"],
                name="account_notification_by_value",
            )
        ]

    def __str__(self) -> str:
        return f"{self.happened_at} {self.kind} {self.value}"
