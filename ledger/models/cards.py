"""Card settings, what issuers printed on bills, and automatic payments (spec 3.30)."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, F, GeneratedField, Q, SmallIntegerField, Value, When
from django.db.models.functions import Now

from core.db.constraints import CompositeForeignKey, TablePrimaryKey
from ledger.models.base import (
    OwnedForeignKey,
    OwnedModel,
    VersionedModel,
    is_first_of_month,
    owned_key,
)
from ledger.models.wallets import Wallet

MAX_TARGETS = 10
MAX_EXCLUDED = 100
# Months of one card that may have settings of their own.
MAX_TERMS = 200


def _generated_place(*, when_main: int | None, when_second: int) -> GeneratedField:
    """Return a generated column: one value for cards with a bill of their own."""
    return GeneratedField(
        expression=Case(
            When(Q(billed_with__isnull=True), then=Value(when_main)),
            default=Value(when_second),
            output_field=SmallIntegerField(null=True),
        ),
        output_field=SmallIntegerField(null=True),
        db_persist=True,
    )


class Card(VersionedModel):
    """The settings of a CARD or CHECK_CARD wallet; `id` is the wallet's id.

    `terms` are the days of its bills: a list of objects with `from` (the month of the
    first bill, YYYY-MM), `closingDay`, `paymentDay`, `paymentMonth` and `shift`, oldest
    first. A card on another card's bill (`billed_with`) has none, and neither has a
    CHECK_CARD.
    """

    id = models.BigIntegerField(primary_key=True)
    terms = models.JSONField(default=list)
    pay_from_wallet = OwnedForeignKey(Wallet, null=True)
    auto_pay = models.BooleanField(default=False)
    # The next day on which the job looks at the card; null without `auto_pay`.
    next_payment_on = models.DateField(null=True, editable=False)
    # In whole home-currency units.
    credit_limit = models.BigIntegerField(null=True)
    billed_with = OwnedForeignKey("self", null=True)
    # 0 for a card with a bill of its own, 1 for one on the bill of such a card: the
    # database refuses chains and circles.
    place = _generated_place(when_main=0, when_second=1)
    billed_with_place = _generated_place(when_main=None, when_second=0)
    # Spending of a month that the issuer asks for, in whole home-currency units.
    targets = ArrayField(models.BigIntegerField(), default=list)
    # What does not count for the targets. No foreign keys: what is gone excludes
    # nothing.
    excluded_category_ids = ArrayField(models.BigIntegerField(), default=list)
    excluded_tag_ids = ArrayField(models.BigIntegerField(), default=list)
    excludes_installments = models.BooleanField(default=False)

    class Meta:
        db_table = "account_card"
        ordering = ["id"]
        constraints = [
            TablePrimaryKey(name="account_card_pkey", fields=["member", "id"]),
            models.UniqueConstraint(
                fields=["member", "id", "place"], name="account_card_place"
            ),
            models.CheckConstraint(
                condition=Q(credit_limit=None) | Q(credit_limit__gt=0),
                name="account_card_credit_limit_positive",
            ),
            models.CheckConstraint(
                condition=Q(auto_pay=False)
                | Q(pay_from_wallet__isnull=False, billed_with=None),
                name="account_card_auto_pay_whole",
            ),
            models.CheckConstraint(
                condition=Q(pay_from_wallet=None) | ~Q(pay_from_wallet=F("id")),
                name="account_card_two_wallets",
            ),
            CompositeForeignKey(
                name="account_card_wallet_owned",
                fields=["member", "id"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
            CompositeForeignKey(
                name="account_card_pay_from_wallet_owned",
                fields=["member", "pay_from_wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
            ),
            CompositeForeignKey(
                name="account_card_billed_with_main",
                fields=["member", "billed_with", "billed_with_place"],
                to="self",
                to_fields=["member", "id", "place"],
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "pay_from_wallet"],
                condition=Q(pay_from_wallet__isnull=False),
                name="account_card_by_payer",
            ),
            models.Index(
                fields=["member", "version", "id"], name="account_card_changed"
            ),
            models.Index(
                fields=["member", "next_payment_on"],
                condition=Q(next_payment_on__isnull=False),
                name="account_card_due",
            ),
        ]

    def __str__(self) -> str:
        return f"card {self.id}"


class CardBill(VersionedModel):
    """The printed values of a bill; the bill itself is computed from entries."""

    card = OwnedForeignKey(Card, related_name="bills")
    # The first day of the month that names the bill.
    month = models.DateField()
    period_end = models.DateField(null=True)
    payment_date = models.DateField(null=True)
    # In whole home-currency units; negative for a credit.
    amount = models.BigIntegerField(null=True)

    class Meta:
        db_table = "account_card_bill"
        ordering = ["card_id", "month"]
        constraints = [
            owned_key("account_card_bill"),
            models.UniqueConstraint(
                fields=["member", "card", "month"], name="account_card_bill_once"
            ),
            models.CheckConstraint(
                condition=is_first_of_month("month"), name="account_card_bill_month"
            ),
            models.CheckConstraint(
                condition=Q(period_end__isnull=False)
                | Q(payment_date__isnull=False)
                | Q(amount__isnull=False),
                name="account_card_bill_not_empty",
            ),
            CompositeForeignKey(
                name="account_card_bill_card_owned",
                fields=["member", "card"],
                to="ledger.Card",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "version", "id"], name="account_card_bill_changed"
            ),
        ]

    def __str__(self) -> str:
        return f"bill of {self.month:%Y-%m} of card {self.card_id}"


class CardPayment(OwnedModel):
    """A bill that the job has dealt with, once for each card and month."""

    class Status(models.TextChoices):
        BOOKED = "BOOKED"
        # Nothing was left to pay, or the payment was there.
        SKIPPED = "SKIPPED"
        # The plan had lapsed.
        MISSED = "MISSED"

    pk = models.CompositePrimaryKey("member_id", "wallet_id", "month")
    wallet = OwnedForeignKey(Wallet, related_name="card_payments")
    month = models.DateField()
    status = models.CharField(max_length=7, choices=Status.choices)
    # No foreign key: the transfer may have been deleted.
    entry_id = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "account_card_payment"
        ordering = ["wallet_id", "month"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["BOOKED", "SKIPPED", "MISSED"]),
                name="account_card_payment_status_known",
            ),
            models.CheckConstraint(
                condition=is_first_of_month("month"), name="account_card_payment_month"
            ),
            CompositeForeignKey(
                name="account_card_payment_wallet_owned",
                fields=["member", "wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} {self.status}"
