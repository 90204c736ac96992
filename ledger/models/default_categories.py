"""Default categories."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from core.db.constraints import CompositeForeignKey
from ledger.models.base import LookModel, generated_level_field, look_constraints


class DefaultCategory(LookModel):
    """A category that members may copy into their own ledger.

    An import in English uses `name_en`, if set. The database enforces two levels: see
    `ledger.categories.tree`.
    """

    class Type(models.TextChoices):
        INCOME = "income"
        EXPENSE = "expense"

    type = models.CharField(max_length=7, choices=Type.choices)
    name = models.CharField(max_length=100)
    name_en = models.CharField("name in English", max_length=100, blank=True)
    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="minors",
        limit_choices_to={"parent": None},
    )
    sort_order = models.IntegerField(default=0)
    level = generated_level_field(when_major=1, when_minor=2)
    parent_level = generated_level_field(when_major=None, when_minor=1)

    class Meta:
        db_table = "default_category"
        verbose_name = _("default category")
        verbose_name_plural = _("default categories")
        ordering = ["type", "sort_order", "id"]
        constraints = [
            *look_constraints("default_category"),
            models.UniqueConstraint(
                fields=["type", "name"], name="default_category_name_unique"
            ),
            models.UniqueConstraint(
                fields=["type", "id", "level"], name="default_category_place"
            ),
            models.CheckConstraint(
                condition=Q(type__in=["income", "expense"]),
                name="default_category_type_known",
            ),
            CompositeForeignKey(
                name="default_category_parent_is_major",
                fields=["type", "parent", "parent_level"],
                to="self",
                to_fields=["type", "id", "level"],
            ),
        ]

    def __str__(self) -> str:
        return self.name
