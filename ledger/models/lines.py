"""Lines of entries and templates."""

from django.db import models
from django.db.models import Q

from core.api.fields import MAX_AMOUNT
from core.db.constraints import CompositeForeignKey, TablePrimaryKey
from ledger.models.base import (
    MAX_MEMO_LENGTH,
    CategoryType,
    OwnedForeignKey,
    OwnedModel,
)
from ledger.models.categories import Category
from ledger.models.wallets import Wallet

# A single line makes a flat entry.
MIN_LINES, MAX_LINES = 2, 50


class Line(OwnedModel):
    """A stored `LineShape` of `ledger.entry_shape`."""

    position = models.SmallIntegerField()
    amount = models.BigIntegerField()
    category = OwnedForeignKey(Category, null=True)
    category_type = models.CharField(max_length=7, choices=CategoryType.choices)
    wallet = OwnedForeignKey(Wallet, null=True)
    memo = models.CharField(max_length=MAX_MEMO_LENGTH, blank=True, default="")

    class Meta:
        abstract = True


def line_constraints(table: str, owner: str) -> list[models.BaseConstraint]:
    """Return the constraints of a table of lines, but for the key of their owner."""
    return [
        # Lines are read by owner.
        TablePrimaryKey(name=f"{table}_pkey", fields=["member", owner, "id"]),
        models.CheckConstraint(
            condition=~Q(amount=0) & Q(amount__range=(-MAX_AMOUNT, MAX_AMOUNT)),
            name=f"{table}_amount",
        ),
        models.CheckConstraint(
            condition=Q(category=None) | Q(wallet=None), name=f"{table}_one_target"
        ),
        models.CheckConstraint(
            condition=Q(category_type__in=CategoryType.values),
            name=f"{table}_type_known",
        ),
        CompositeForeignKey(
            name=f"{table}_category_owned",
            fields=["member", "category_type", "category"],
            to="ledger.Category",
            to_fields=["member", "type", "id"],
        ),
        CompositeForeignKey(
            name=f"{table}_wallet_owned",
            fields=["member", "wallet"],
            to="ledger.Wallet",
            to_fields=["member", "id"],
        ),
    ]


def line_indexes(table: str) -> list[models.Index]:
    return [
        models.Index(
            fields=["member", "category"],
            condition=Q(category__isnull=False),
            name=f"{table}_by_category",
        ),
        models.Index(
            fields=["member", "wallet"],
            condition=Q(wallet__isnull=False),
            name=f"{table}_by_wallet",
        ),
    ]
