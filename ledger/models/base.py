"""Base models of the ledger: every row belongs to one member.

The member is the first column of every key, and part of every foreign key, join and
look-up, so that no statement of a request concerns the rows of two members. That keeps
ledgers apart (spec 1.8), and the tables can be distributed by member
(docs/scaling.md).
"""

from typing import Any, Self

from django.db import models
from django.db.models.lookups import Exact
from django.db.models.sql.where import WhereNode

from accounts.models import Member
from core.db.constraints import CompositeForeignKey, TablePrimaryKey

MAX_NAME_LENGTH = 100
MAX_MEMO_LENGTH = 500


class EntryType(models.TextChoices):
    """The types of an entry (spec 3.4)."""

    INCOME = "income"
    EXPENSE = "expense"
    TRANSFER = "transfer"


class CategoryType(models.TextChoices):
    """The types of a category, and of what is booked on it (spec 3.7)."""

    INCOME = "income"
    EXPENSE = "expense"


def category_type_field() -> models.GeneratedField:
    """Return a generated column: the type of the category that a row names.

    It is that of the row, and the other one if `is_reversal`: money that comes back
    from an expense (spec 3.4). A part of the foreign key to the category.
    """
    is_income = models.Q(type=EntryType.INCOME)
    return models.GeneratedField(
        expression=models.Case(
            models.When(
                (is_income & models.Q(is_reversal=False))
                | (~is_income & models.Q(is_reversal=True)),
                then=models.Value(CategoryType.INCOME.value),
            ),
            default=models.Value(CategoryType.EXPENSE.value),
            output_field=models.CharField(max_length=7),
        ),
        output_field=models.CharField(max_length=7),
        db_persist=True,
    )


class OwnedQuerySet(models.QuerySet[Any]):
    """Rows that belong to members; queries start with `owned_by`."""

    def owned_by(self, member: Member) -> Self:
        """Return only the rows of this member (spec 1.8)."""
        return self.filter(member_id=member.pk)


class OwnerField(models.ForeignKey[Any, Any]):
    """The member whose row it is.

    The foreign key of the database is the one of `owned_constraints`, to the ledger.
    """

    def __init__(self, **kwargs: Any) -> None:
        fixed = {
            "to": "accounts.Member",
            "on_delete": models.DO_NOTHING,
            "db_constraint": False,
            "db_index": False,
            "related_name": "+",
        }
        super().__init__(**(kwargs | fixed))


class OwnedForeignKey(models.ForeignKey[Any, Any]):
    """A reference to another row of the same member's ledger.

    Joins and look-ups along it compare the members too. The foreign key of the database
    is a `CompositeForeignKey` in the `Meta` of the model.
    """

    def __init__(self, to: Any, on_delete: Any = models.DO_NOTHING, **kw: Any) -> None:
        kw |= {"db_constraint": False, "db_index": False}
        super().__init__(to, on_delete, **({"related_name": "+"} | kw))

    def get_extra_restriction(self, alias: Any, related_alias: Any) -> WhereNode:
        """Compare the members in a join: `alias` is the referenced table."""
        referenced: Any = self.remote_field.model._meta.get_field("member")
        own: Any = self.model._meta.get_field("member")
        condition: Any = Exact(referenced.get_col(alias), own.get_col(related_alias))
        return WhereNode([condition])

    def get_extra_descriptor_filter(self, instance: models.Model) -> dict[str, Any]:
        """Restrict `row.reference`, which reads the referenced row."""
        return {"member_id": instance.member_id}  # type: ignore[attr-defined]


class OwnedModel(models.Model):
    """A row of one member's ledger."""

    member = OwnerField()

    objects = OwnedQuerySet.as_manager()

    class Meta:
        abstract = True

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Any = None,
        from_queryset: "models.QuerySet[Any] | None" = None,
    ) -> None:
        rows = from_queryset or type(self).objects.using(using)
        rows = rows.filter(member_id=self.member_id)
        super().refresh_from_db(using, fields, rows)

    def delete(self, using: Any = None, keep_parents: bool = False) -> Any:
        rows = type(self).objects.using(using)
        return rows.filter(member_id=self.member_id, pk=self.pk).delete()

    def _do_update(
        self, base_qs: Any, using: Any, pk_val: Any, values: Any, *options: Any
    ) -> Any:
        """Update the row of the member, which never changes its member."""
        rows = base_qs.filter(member_id=self.member_id)
        values = [value for value in values if value[0].name != "member"]
        return super()._do_update(rows, using, pk_val, values, *options)


class MovableModel(OwnedModel):
    """A wallet or category, whose entries may be moving to another one.

    They do from its deletion with `moveTo` until the job has moved all of them and
    deletes the row (`ledger.moves`). A model has `moving_to`, a reference to itself.
    """

    moving_to: Any
    moving_to_id: int | None

    class Meta:
        abstract = True

    @property
    def is_moving(self) -> bool:
        return self.moving_to_id is not None


def moving_index(name: str) -> models.Index:
    """Return an index of the rows that are moving, which are few, by their target."""
    return models.Index(
        fields=["member", "moving_to"],
        condition=models.Q(moving_to__isnull=False),
        name=name,
    )


def owned_constraints(table: str) -> list[models.BaseConstraint]:
    """Return the constraints of a table whose rows refer to nothing but the ledger."""
    return [
        owned_key(table),
        CompositeForeignKey(
            name=f"{table}_in_ledger",
            fields=["member"],
            to="ledger.Ledger",
            to_fields=["member"],
        ),
    ]


def owned_key(table: str) -> TablePrimaryKey:
    """Return the primary key of a table of members' rows: the member and the id."""
    return TablePrimaryKey(name=f"{table}_pkey", fields=["member", "id"])
