"""Tags."""

from django.db import models

from ledger.models.base import (
    MAX_NAME_LENGTH,
    LookModel,
    VersionedModel,
    look_constraints,
    owned_constraints,
)


class Tag(VersionedModel, LookModel):
    """A word that members attach to entries (spec 3.8)."""

    name = models.CharField(max_length=MAX_NAME_LENGTH)
    sort_order = models.IntegerField(default=0)

    class Meta:
        db_table = "account_tag"
        ordering = ["sort_order", "id"]
        constraints = [
            *owned_constraints("account_tag"),
            *look_constraints("account_tag"),
            models.UniqueConstraint(
                fields=["member", "name"], name="account_tag_name_unique"
            ),
        ]

    def __str__(self) -> str:
        return self.name
