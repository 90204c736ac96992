"""Wallets and valuations."""

from django.db import models
from django.db.models import Func

from core.db.constraints import CompositeForeignKey
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    MAX_NAME_LENGTH,
    LookModel,
    OwnedForeignKey,
    VersionedModel,
    look_constraints,
    owned_constraints,
)

MAX_ACCOUNT_NUMBER_LENGTH = 64


class Wallet(VersionedModel, LookModel):
    """A bank account, card, loan, or cash (spec 3.2)."""

    class Kind(models.TextChoices):
        CASH = "CASH"
        BANK = "BANK"
        CARD = "CARD"
        CHECK_CARD = "CHECK_CARD"
        INVESTMENT = "INVESTMENT"
        PENSION = "PENSION"
        LOAN = "LOAN"
        # Prepaid: points, pay money, a local currency.
        PREPAID = "PREPAID"
        # Money that others owe.
        RECEIVABLE = "RECEIVABLE"
        OTHER = "OTHER"

    name = models.CharField(max_length=MAX_NAME_LENGTH)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    institution = models.CharField(max_length=MAX_NAME_LENGTH, blank=True, default="")
    encrypted_account_number = models.CharField(
        max_length=255, blank=True, default="", db_column="account_number"
    )
    opening_balance = models.BigIntegerField(default=0)
    manual_valuation = models.BooleanField(default=False)
    current_value = models.BigIntegerField(null=True, blank=True)
    archived = models.BooleanField(default=False)
    memo = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")
    sort_order = models.IntegerField(default=0)
    # Null if it was made before 1.1, or by a restore.
    created_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "account"
        ordering = ["sort_order", "id"]
        constraints = [
            *owned_constraints("account"),
            *look_constraints("account"),
            models.UniqueConstraint(
                fields=["member", "name"], name="account_name_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Valuation(VersionedModel):
    """A value of a wallet, typed in, one for each day (spec 3.2)."""

    pk = models.CompositePrimaryKey("member_id", "wallet_id", "date")
    # For the feed of changes, whose rows all have one.
    id = models.BigIntegerField(
        db_default=Func(template="nextval('account_valuation_id_seq'::regclass)"),
        editable=False,
    )
    wallet = OwnedForeignKey(Wallet, related_name="valuations")
    date = models.DateField()
    value = models.BigIntegerField()
    # Later transfers of the same day move the value.
    written_at = models.DateTimeField()

    class Meta:
        db_table = "account_valuation"
        ordering = ["wallet_id", "date"]
        constraints = [
            CompositeForeignKey(
                name="account_valuation_wallet_owned",
                fields=["member", "wallet"],
                to="ledger.Wallet",
                to_fields=["member", "id"],
                on_delete="CASCADE",
            ),
            models.UniqueConstraint(
                fields=["member", "id"], name="account_valuation_id_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.date}: {self.value}"
