"""Base models of the ledger: every row belongs to one member.

The member is the first column of every key, and part of every foreign key, join and
look-up: no statement of a request concerns two members' rows (spec 1.8), and the tables
can be distributed by member (docs/scaling.md).
"""

from typing import Any, Self

from django.core.validators import RegexValidator
from django.db import connections, models
from django.db.models import (
    Case,
    GeneratedField,
    Q,
    SmallIntegerField,
    Value,
    When,
)
from django.db.models.lookups import Exact
from django.db.models.sql import UpdateQuery
from django.db.models.sql.where import WhereNode
from django.utils.translation import gettext_lazy

from accounts.models import Member
from core.db.constraints import CompositeForeignKey, TablePrimaryKey
from ledger import entry_shape
from ledger.entry_shape import MAX_MEMO_LENGTH as MAX_MEMO_LENGTH


def generated_level_field(*, when_major: int | None, when_minor: int) -> GeneratedField:
    """Return a generated column: one value for major categories, one for minor."""
    return GeneratedField(
        expression=Case(
            When(Q(parent__isnull=True), then=Value(when_major)),
            default=Value(when_minor),
            output_field=SmallIntegerField(null=True),
        ),
        output_field=SmallIntegerField(null=True),
        db_persist=True,
    )


MAX_NAME_LENGTH = 100
MAX_ICON_LENGTH = 40
COLOR_LENGTH = 7
COLOR_PATTERN = "^#[0-9a-f]{6}$"
COLOR_TEXT = gettext_lazy("Must be a colour such as #1a2b3c.")
# 100 a day for 13 years. A write of a whole ledger fits into one transaction.
MAX_ENTRIES = 500_000
MAX_ENTRIES_CONSTRAINT = "account_ledger_max_entries"


class EntryType(models.TextChoices):
    INCOME = entry_shape.INCOME
    EXPENSE = entry_shape.EXPENSE
    TRANSFER = entry_shape.TRANSFER


class CategoryType(models.TextChoices):
    INCOME = entry_shape.INCOME
    EXPENSE = entry_shape.EXPENSE


def category_type_field() -> models.GeneratedField:
    """Return a generated column: the type of the row's category.

    The other type if `is_reversal`: money that comes back from an expense (spec 3.4).
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
        return self.filter(member_id=member.pk)


def _as_foreign_key(deconstructed: Any) -> Any:
    """Name Django's field in migrations, which import no model of this release."""
    name, _, args, kwargs = deconstructed
    return name, "django.db.models.ForeignKey", args, kwargs


class OwnerField(models.ForeignKey[Any, Any]):
    """The database has the foreign key of `owned_constraints`, to the ledger."""

    def __init__(self, **kwargs: Any) -> None:
        fixed = {
            "to": "accounts.Member",
            "on_delete": models.DO_NOTHING,
            "db_constraint": False,
            "db_index": False,
            "related_name": "+",
        }
        super().__init__(**(kwargs | fixed))

    def deconstruct(self) -> Any:
        return _as_foreign_key(super().deconstruct())


class OwnedForeignKey(models.ForeignKey[Any, Any]):
    """A reference to another row of the same member's ledger.

    Joins and look-ups compare the members too. The database has a
    `CompositeForeignKey`, in the `Meta` of the model.
    """

    def __init__(self, to: Any, on_delete: Any = models.DO_NOTHING, **kw: Any) -> None:
        kw |= {"db_constraint": False, "db_index": False}
        super().__init__(to, on_delete, **({"related_name": "+"} | kw))

    def deconstruct(self) -> Any:
        return _as_foreign_key(super().deconstruct())

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
        """Restrict the update to the member, who never changes."""
        rows = base_qs.filter(member_id=self.member_id)
        values = [value for value in values if value[0].name != "member"]
        return super()._do_update(rows, using, pk_val, values, *options)


class VersionField(models.BigIntegerField):  # type: ignore[type-arg]
    """Comes back from INSERT, as the id does."""

    db_returning = True

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.BigIntegerField", args, kwargs


class VersionedModel(OwnedModel):
    """A row that clients keep a copy of (spec 3.22).

    `version` is the revision of the ledger that wrote the row. A trigger stamps it
    (`ledger/sql/versions.sql`): values that are assigned have no effect.
    """

    version = VersionField(db_default=0, editable=False)

    class Meta:
        abstract = True

    def _do_update(
        self, base_qs: Any, using: Any, pk_val: Any, values: Any, *options: Any
    ) -> Any:
        """Update as `OwnedModel` does, and take the new version."""
        rows = base_qs.filter(member_id=self.member_id, pk=pk_val)
        query = rows.query.chain(UpdateQuery)
        query.add_update_fields(
            [each for each in values if each[0].name not in {"member", "version"}]
        )
        statement, params = query.get_compiler(using).as_sql()
        with connections[using].cursor() as cursor:
            cursor.execute(f"{statement} RETURNING version", params)
            found = cursor.fetchone()
        if found is None:
            return False
        (self.version,) = found
        return True


class LookModel(models.Model):
    """How clients show a row (spec 3.21): both null unless a member chose them."""

    # A client's name of an icon, or one emoji.
    icon = models.CharField(max_length=MAX_ICON_LENGTH, null=True, blank=True)
    color = models.CharField(
        max_length=COLOR_LENGTH,
        null=True,
        blank=True,
        validators=[RegexValidator(COLOR_PATTERN, COLOR_TEXT)],
    )

    class Meta:
        abstract = True


def look_constraints(table: str) -> list[models.BaseConstraint]:
    return [
        models.CheckConstraint(
            condition=models.Q(color__regex=COLOR_PATTERN), name=f"{table}_color_known"
        ),
        models.CheckConstraint(
            condition=~models.Q(icon=""), name=f"{table}_icon_not_empty"
        ),
    ]


def is_first_of_month(name: str) -> Q:
    """Return a condition: the date of a column that names a month, or null."""
    return Q(**{name: None}) | Q(**{f"{name}__day": 1})


def owned_constraints(table: str) -> list[models.BaseConstraint]:
    """Return the constraints of a table that refers to the ledger only."""
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
    return TablePrimaryKey(name=f"{table}_pkey", fields=["member", "id"])
