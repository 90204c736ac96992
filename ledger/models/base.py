"""What every row of a ledger has: its member, and a way to see only one's own."""

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
    """Rows that belong to members; every ledger query starts from `owned_by`."""

    def owned_by(self, member: Member) -> Self:
        """Only this member's rows (spec 1.8)."""
        return self.filter(member=member)


class OwnedModel(models.Model):
    """A row of one member's ledger.

    References between owned rows are foreign keys over (member, id), made in the
    migrations, so that not even a fault of ours can join two members' ledgers.
    """

    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )

    objects = OwnedQuerySet.as_manager()

    class Meta:
        abstract = True
