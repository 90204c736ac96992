"""Recurring rules and occurrences."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from core.db.constraints import CompositeForeignKey
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
    EntryType,
    OwnedForeignKey,
    OwnedModel,
    VersionedModel,
    category_type_field,
    owned_constraints,
    owned_key,
)
from ledger.models.categories import Category
from ledger.models.entries import Entry
from ledger.models.lines import Line, line_constraints
from ledger.models.schedule import Frequency, Schedule
from ledger.models.tags import Tag
from ledger.models.wallets import Wallet

MAX_INTERVAL = 1000


class RecurringRule(VersionedModel):
    """A recurring transaction with its schedule (spec 3.10).

    `next_date` is the first due date that is not processed yet; None after the end.
    """

    name = models.CharField(max_length=MAX_NAME_LENGTH)
    type = models.CharField(max_length=8, choices=EntryType.choices)
    is_reversal = models.BooleanField(db_default=False, editable=False)
    category_type = category_type_field()
    amount = models.BigIntegerField()
    category = OwnedForeignKey(Category, null=True)
    wallet = OwnedForeignKey(Wallet, null=True)
    to_wallet = OwnedForeignKey(Wallet, null=True)
    memo = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")
    frequency = models.CharField(
        max_length=7, choices=[(name.value, name.value) for name in Frequency]
    )
    interval = models.SmallIntegerField(default=1)
    anchor_date = models.DateField()
    end_date = models.DateField(null=True, blank=True)
    next_date = models.DateField(null=True, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "account_recurring"
        ordering = ["id"]
        constraints = [
            *owned_constraints("account_recurring"),
            models.CheckConstraint(
                condition=Q(type__in=EntryType.values),
                name="account_recurring_type_known",
            ),
            models.CheckConstraint(
                condition=Q(amount__gt=0), name="account_recurring_amount_positive"
            ),
            models.CheckConstraint(
                condition=Q(interval__range=(1, MAX_INTERVAL)),
                name="account_recurring_interval",
            ),
            CompositeForeignKey(
                name="account_recurring_category_owned",
                fields=["member", "category_type", "category"],
                to="ledger.Category",
                to_fields=["member", "type", "id"],
            ),
            CompositeForeignKey(
                name="account_recurring_wallet_owned",
                fields=["member", "wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
            ),
            CompositeForeignKey(
                name="account_recurring_to_wallet_owned",
                fields=["member", "to_wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
            ),
        ]
        indexes = [
            models.Index(
                fields=["member", "next_date"],
                condition=Q(active=True, next_date__isnull=False),
                name="account_recurring_due",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def schedule(self) -> Schedule:
        return Schedule(
            Frequency(self.frequency), self.interval, self.anchor_date, self.end_date
        )


class RecurringLine(Line):
    rule = OwnedForeignKey(RecurringRule, related_name="lines")

    class Meta:
        db_table = "account_recurring_line"
        ordering = ["rule_id", "position"]
        constraints = [
            *line_constraints("account_recurring_line", "rule"),
            CompositeForeignKey(
                name="account_recurring_line_rule_owned",
                fields=["member", "rule"],
                to="ledger.RecurringRule",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"line of {self.amount} of recurring rule {self.rule_id}"


class RecurringTag(OwnedModel):
    pk = models.CompositePrimaryKey("member_id", "rule_id", "tag_id")
    rule = OwnedForeignKey(RecurringRule)
    tag = OwnedForeignKey(Tag)
    position = models.SmallIntegerField()

    class Meta:
        db_table = "account_recurring_tag"
        ordering = ["rule_id", "position"]
        constraints = [
            CompositeForeignKey(
                name="account_recurring_tag_rule_owned",
                fields=["member", "rule"],
                to="ledger.RecurringRule",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
            CompositeForeignKey(
                name="account_recurring_tag_tag_owned",
                fields=["member", "tag"],
                to="ledger.Tag",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"tag {self.tag_id} on rule {self.rule_id}"


class Occurrence(OwnedModel):
    """A due date of a rule that was processed, exactly once.

    BOOKED: an entry was created, which may have been deleted since. SKIPPED: the rule
    was inactive. MISSED: the member's plan had lapsed.
    """

    class Status(models.TextChoices):
        BOOKED = "BOOKED"
        SKIPPED = "SKIPPED"
        MISSED = "MISSED"

    rule = OwnedForeignKey(RecurringRule)
    due_date = models.DateField()
    status = models.CharField(max_length=7, choices=Status.choices)
    # No foreign key: the entry may have been deleted.
    entry = OwnedForeignKey(Entry, null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "account_recurring_occurrence"
        ordering = ["-due_date", "-id"]
        constraints = [
            owned_key("account_recurring_occurrence"),
            models.UniqueConstraint(
                fields=["member", "rule", "due_date"],
                name="account_recurring_occurrence_once",
            ),
            CompositeForeignKey(
                name="account_recurring_occurrence_rule_owned",
                fields=["member", "rule"],
                to="ledger.RecurringRule",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.due_date} {self.status}"
