"""Purchases and notifications of the store."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from core.sealing import seal, unseal

TOKEN_LENGTH = 1000
HASH_LENGTH = 64
STATE_LENGTH = 100
# Main unit of any currency.
AMOUNT_DIGITS, AMOUNT_DECIMALS = 18, 6


class Purchase(models.Model):
    """A verified order (spec 6.3); each renewal is an order."""

    # Account deletion writes a `RedeemedOrder` first.
    member = models.ForeignKey(
        Member, on_delete=models.PROTECT, db_index=False, related_name="purchases"
    )
    store = models.CharField(max_length=20)
    order_id = models.CharField(max_length=TOKEN_LENGTH)
    # It can cancel or refund the subscription.
    sealed_token = models.BinaryField()
    token_hash = models.CharField(max_length=HASH_LENGTH)
    # SHA-256 of a token from before an upgrade.
    replaces_token_hash = models.CharField(
        max_length=HASH_LENGTH, blank=True, default="", db_index=True
    )
    product_id = models.CharField(max_length=100)
    # A term such as IN_GRACE_PERIOD.
    state = models.CharField(max_length=STATE_LENGTH, blank=True)
    purchased_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    auto_renew = models.BooleanField()
    # False after a change of plan by staff, or a replacement.
    is_active = models.BooleanField(default=True)
    replaced_at = models.DateTimeField(null=True, blank=True)
    # The store refunds unacknowledged purchases.
    is_acknowledged = models.BooleanField(default=True)
    # Earlier responses are stale.
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    # Bought in the store: the acknowledgement names the account.
    is_out_of_app = models.BooleanField(default=False)
    checked_at = models.DateTimeField()
    # Our price until the store reports the payment.
    paid_amount = models.DecimalField(
        max_digits=AMOUNT_DIGITS, decimal_places=AMOUNT_DECIMALS, null=True, blank=True
    )
    paid_currency = models.CharField(max_length=3, blank=True, default="")
    is_paid_confirmed = models.BooleanField(default=False)
    refunded_at = models.DateTimeField(null=True, blank=True)
    refunded_amount = models.DecimalField(
        max_digits=AMOUNT_DIGITS, decimal_places=AMOUNT_DECIMALS, null=True, blank=True
    )
    # Set until the job has read payment and refund.
    order_due_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "iap_purchase"
        verbose_name = _("purchase")
        verbose_name_plural = _("purchases")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["order_id", "store"], name="iap_purchase_unique_order"
            ),
            models.CheckConstraint(
                condition=~Q(order_id="") & ~Q(token_hash=""),
                name="iap_purchase_has_order_and_token",
            ),
            models.CheckConstraint(
                condition=Q(replaced_at=None) | Q(is_active=False),
                name="iap_purchase_replaced_is_inactive",
            ),
            models.CheckConstraint(
                condition=Q(refunded_amount=None) | Q(refunded_at__isnull=False),
                name="iap_purchase_refunded_amount_has_time",
            ),
            models.CheckConstraint(
                condition=(Q(paid_amount=None) | Q(paid_amount__gte=0))
                & (Q(refunded_amount=None) | Q(refunded_amount__gte=0)),
                name="iap_purchase_amounts_not_negative",
            ),
        ]
        indexes = [
            models.Index(fields=["member", "-expires_at"], name="iap_purchase_member"),
            models.Index(fields=["token_hash"], name="iap_purchase_token"),
            models.Index(fields=["purchased_at"], name="iap_purchase_bought"),
            models.Index(
                fields=["expires_at"],
                condition=Q(is_active=True),
                name="iap_purchase_counted",
            ),
            models.Index(
                fields=["expires_at"],
                condition=Q(is_active=True, auto_renew=True),
                name="iap_purchase_renewing",
            ),
            models.Index(
                fields=["member", "expires_at"],
                condition=Q(store="test"),
                name="iap_purchase_test_mode",
            ),
            models.Index(
                fields=["id"],
                condition=Q(is_acknowledged=False),
                name="iap_purchase_unacknowledged",
            ),
            models.Index(
                fields=["order_due_since"],
                condition=Q(order_due_since__isnull=False),
                name="iap_purchase_order_due",
            ),
            models.Index(
                fields=["refunded_at"],
                condition=Q(refunded_at__isnull=False),
                name="iap_purchase_refunded",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product_id} until {self.expires_at:%Y-%m-%d}"

    @property
    def purchase_token(self) -> str:
        return unseal(self.sealed_token, self.sealing_context).decode()

    @property
    def sealing_context(self) -> str:
        return _token_context(self.token_hash)


class AccountToken(models.Model):
    """Random id for the stores (spec 6.10)."""

    member = models.OneToOneField(Member, on_delete=models.CASCADE, primary_key=True)
    uuid = models.UUIDField(unique=True, editable=False)
    # SHA-256 of the text in hex.
    digest = models.CharField(max_length=HASH_LENGTH, unique=True, editable=False)

    class Meta:
        db_table = "store_account_token"

    def __str__(self) -> str:
        return f"account token of member {self.pk}"


class RedeemedOrder(models.Model):
    """Keyed hash of a deleted member's order."""

    order_hash = models.CharField(max_length=HASH_LENGTH, primary_key=True)

    class Meta:
        db_table = "iap_spent_order"

    def __str__(self) -> str:
        return self.order_hash[:12]


class StoreNotification(models.Model):
    class Outcome(models.TextChoices):
        PENDING = "PENDING"
        REFRESHED = "REFRESHED", "purchase refreshed from the store"
        ASSIGNED = "ASSIGNED", "purchase given to its owner"
        NO_OWNER = "NO_OWNER", "purchase without an owner"
        UNKNOWN_PURCHASE = "UNKNOWN_PURCHASE", "purchase not recorded"
        OTHER_PACKAGE = "OTHER_PACKAGE", "other application"
        NO_SUBSCRIPTION = "NO_SUBSCRIPTION", "not about a subscription, or unreadable"
        REJECTED = "REJECTED", "purchase belongs to another account"

    message_id = models.CharField(max_length=255, null=True, unique=True)
    received_at = models.DateTimeField(default=timezone.now, db_index=True)
    # The body has the token of a purchase.
    sealed_body = models.BinaryField()
    kind = models.CharField(max_length=60)
    package = models.CharField(max_length=255, blank=True)
    token_hash = models.CharField(max_length=HASH_LENGTH, blank=True, db_index=True)
    outcome = models.CharField(
        max_length=16, choices=Outcome.choices, default=Outcome.PENDING
    )
    processed_at = models.DateTimeField(null=True, blank=True)
    attempts = models.IntegerField(default=0)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    looked_up_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "store_notification"
        verbose_name = _("store notification")
        verbose_name_plural = _("store notifications")
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(processed_at=None, outcome__in=("PENDING", "NO_OWNER"))
                | (Q(processed_at__isnull=False) & ~Q(outcome="PENDING")),
                name="store_notification_outcome_when_processed",
            )
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(processed_at=None),
                name="store_notification_pending",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.message_id or ''}".strip()

    @property
    def body(self) -> str:
        return unseal(self.sealed_body, self.sealing_context).decode()

    @property
    def sealing_context(self) -> str:
        return _body_context(self.message_id, self.token_hash)


def seal_token(token: str, token_hash: str) -> bytes:
    return seal(token.encode(), _token_context(token_hash))


def seal_body(body: str, message_id: str | None, token_hash: str) -> bytes:
    return seal(body.encode(), _body_context(message_id, token_hash))


def _token_context(token_hash: str) -> str:
    return f"purchase token {token_hash}"


def _body_context(message_id: str | None, token_hash: str) -> str:
    return f"store notification {message_id or ''} {token_hash}"
