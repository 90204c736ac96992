"""Categories."""

from django.db import models
from django.db.models import Q

from core.db.constraints import CompositeForeignKey
from ledger.models.base import (
    MAX_NAME_LENGTH,
    CategoryType,
    LookModel,
    OwnedForeignKey,
    VersionedModel,
    generated_level_field,
    look_constraints,
    owned_constraints,
)


class Category(VersionedModel, LookModel):
    """A major category, or a minor one under it (spec 3.7).

    The database enforces the two levels: see `ledger.categories.tree`.
    """

    type = models.CharField(max_length=7, choices=CategoryType.choices)
    name = models.CharField(max_length=MAX_NAME_LENGTH)
    parent = OwnedForeignKey("self", null=True, blank=True)
    sort_order = models.IntegerField(default=0)
    level = generated_level_field(when_major=1, when_minor=2)
    parent_level = generated_level_field(when_major=None, when_minor=1)

    class Meta:
        db_table = "account_category"
        verbose_name_plural = "categories"
        ordering = ["type", "sort_order", "id"]
        constraints = [
            *owned_constraints("account_category"),
            *look_constraints("account_category"),
            models.UniqueConstraint(
                fields=["member", "type", "name"], name="account_category_name_unique"
            ),
            models.UniqueConstraint(
                fields=["member", "type", "id"], name="account_category_owner"
            ),
            models.UniqueConstraint(
                fields=["member", "type", "id", "level"], name="account_category_place"
            ),
            models.CheckConstraint(
                condition=Q(type__in=CategoryType.values),
                name="account_category_type_known",
            ),
            CompositeForeignKey(
                name="account_category_parent_is_major",
                fields=["member", "type", "parent", "parent_level"],
                to="self",
                to_fields=["member", "type", "id", "level"],
            ),
        ]

    def __str__(self) -> str:
        return self.name
