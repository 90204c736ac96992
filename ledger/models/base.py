"""Base model and queryset: every row of the ledger belongs to one member."""

from typing import Any, Self

from django.db import models

from accounts.models import Member

MAX_NAME_LENGTH = 100
MAX_MEMO_LENGTH = 500


class EntryType(models.TextChoices):
    """The two directions of money (spec 3.4)."""

    INCOME = "income"
    EXPENSE = "expense"


class OwnedQuerySet(models.QuerySet[Any]):
    """Rows that belong to members; queries start with `owned_by`."""

    def owned_by(self, member: Member) -> Self:
        """Return only the rows of this member (spec 1.8)."""
        return self.filter(member=member)


class OwnedModel(models.Model):
    """A row of one member's ledger.

    Foreign keys between owned rows are composite, over (member, id), so that the
    database rejects references between two members' ledgers.
    """

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )

    objects = OwnedQuerySet.as_manager()

    class Meta:
        abstract = True
