"""Stored notifications, taught layouts and texts that are not sure."""

import hashlib

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from ledger.models.base import (
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
    OwnedModel,
    owned_constraints,
)

MAX_NOTIF_KEY_LENGTH = 64
MAX_TEXT_LENGTH = 4_000
MAX_SENDER_LENGTH = 200
MAX_CHANNEL_LENGTH = 10
MAX_TEMPLATE_LENGTH = 1_000
DIGEST_LENGTH = 64
MAX_LAYOUT_KIND_LENGTH = 12
NOTIFICATION_KINDS = ("approval", "cancellation", "deposit", "withdrawal")


class Notification(OwnedModel):
    """A payment, cancellation or booking, as one channel announced it (spec 4.5).

    It stays when its entry is deleted: the same text does not create the entry again.
    `value` is in the currency of the payment.
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
    # Printed if `is_timed`, else the time of receipt.
    happened_at = models.DateTimeField()
    is_timed = models.BooleanField()
    is_cancelled = models.BooleanField(default=False)
    # No foreign key: the entry may have been deleted.
    entry_id = models.BigIntegerField(null=True)
    channel = models.CharField(max_length=MAX_CHANNEL_LENGTH, null=True)
    # The text broke off the name of the merchant.
    is_cut = models.BooleanField(default=False)
    # A reserved amount, until a final one or a cancellation follows.
    is_preliminary = models.BooleanField(default=False)
    # The first notification of the same payment; null for the first one itself.
    payment_id = models.BigIntegerField(null=True)
    wallet_id = models.BigIntegerField(null=True)
    # A booking between two wallets of the member: no income or expense.
    is_own_move = models.BooleanField(default=False)
    # The other booking of a move, or the approval of a cancellation, may still come.
    awaits_counterpart = models.BooleanField(default=False)
    # Printed by a cancellation that waits for its approval.
    original_date = models.DateField(null=True)
    # Corrections of the pending entry are learned from it; null afterwards.
    text = models.CharField(max_length=MAX_TEXT_LENGTH, null=True)
    sender = models.CharField(max_length=MAX_SENDER_LENGTH, null=True)
    # Questions about the pending entry, and the names it may have; null without
    # questions, and once the entry is confirmed.
    doubts = models.JSONField(null=True)
    # Of the text, read without taught layouts.
    layout_digest = models.CharField(max_length=DIGEST_LENGTH, null=True)
    # The entry was ever confirmed: texts of the layout are payments.
    is_confirmed = models.BooleanField(default=False, db_default=False)

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
            ),
            models.Index(
                fields=["member", "-happened_at"],
                condition=Q(is_preliminary=True, is_cancelled=False),
                name="account_notification_reserved",
            ),
            models.Index(
                fields=["member", "entry_id"],
                condition=Q(is_confirmed=False, entry_id__isnull=False),
                name="account_notification_of_entry",
            ),
            models.Index(
                fields=["member", "layout_digest"],
                condition=Q(is_confirmed=True, layout_digest__isnull=False),
                name="account_notification_confirmed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.happened_at} {self.kind} {self.value}"


def digest_template(template: str, *, is_unsure: bool = False) -> str:
    """Return what a member has once for a sender; texts not sure have their own."""
    marked = f"?{template}" if is_unsure else template
    return hashlib.sha256(marked.encode()).hexdigest()


class LayoutKind(models.TextChoices):
    """The kind of texts of a taught layout; `NONE` is no payment."""

    APPROVAL = "approval"
    CANCELLATION = "cancellation"
    NONE = "none"


class TaughtLayout(OwnedModel):
    """A layout that was learned from a correction, or taught (spec 4.11).

    `wallet_id` is the wallet of texts with the digits `card_hint`, if it was corrected.
    """

    sender = models.CharField(max_length=MAX_SENDER_LENGTH, blank=True, default="")
    template = models.CharField(max_length=MAX_TEMPLATE_LENGTH)
    # A template is too long for an index.
    template_digest = models.CharField(max_length=DIGEST_LENGTH)
    # No foreign key: the wallet may have been deleted, or replaced by a restore.
    wallet_id = models.BigIntegerField(null=True)
    card_hint = models.CharField(max_length=MAX_NAME_LENGTH, null=True)
    uses = models.IntegerField(default=0)
    created_at = models.DateTimeField()
    kind = models.CharField(
        max_length=MAX_LAYOUT_KIND_LENGTH,
        choices=LayoutKind.choices,
        default=LayoutKind.APPROVAL,
        db_default=LayoutKind.APPROVAL,
    )
    # It decides the kind, too: the grammar may have refused the text.
    is_complete = models.BooleanField(default=False, db_default=False)
    # Its texts become entries that are not sure.
    is_unsure = models.BooleanField(default=False, db_default=False)
    # The name is a guess: its texts ask for it.
    is_name_guessed = models.BooleanField(default=False, db_default=False)
    # Entries whose deletion has taught it, and nothing else; an undo takes both back.
    deleted_entry_ids = ArrayField(models.BigIntegerField(), null=True)

    class Meta:
        db_table = "account_notification_layout"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=LayoutKind.values),
                name="account_notification_layout_kind_known",
            ),
            *owned_constraints("account_notification_layout"),
            models.UniqueConstraint(
                fields=["member", "sender", "template_digest"],
                name="account_notification_layout_once",
            ),
        ]

    def __str__(self) -> str:
        return f"layout {self.pk} of {self.sender}"


class UnsureText(OwnedModel):
    """A text that is likely no payment, and the payment it would be (spec 4.13).

    `sealed` has both: the text, and the payment as JSON.
    """

    # The key of the payment it would be.
    notif_key = models.CharField(max_length=MAX_NOTIF_KEY_LENGTH)
    # Null once it was booked.
    sealed = models.BinaryField(null=True)
    created_at = models.DateTimeField()
    # It was answered: the same call again is a duplicate.
    is_booked = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = "account_unsure_text"
        ordering = ["-id"]
        constraints = [
            *owned_constraints("account_unsure_text"),
            models.UniqueConstraint(
                fields=["member", "notif_key"], name="account_unsure_text_key"
            ),
        ]

    def __str__(self) -> str:
        return f"unsure text {self.pk}"

    @property
    def sealing_context(self) -> str:
        return f"account_unsure_text.sealed:{self.member_id}:{self.notif_key}"
