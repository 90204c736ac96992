"""The inbox: messages to members within the service (spec 2.19)."""

from django.db import models
from django.db.models.functions import Now

from accounts.models.members import Member

MAX_KIND_LENGTH = 20


class InboxItem(models.Model):
    """Something that happened, told once until it is read.

    Its text is made when it is read. What happens again before raises `count` and takes
    a new `id`: the items of a member are in the order of their ids.
    """

    # Without constraints on members: an item is written by others, who would wait for
    # the member's row while they hold what the member is about to delete. The rows that
    # the items tell of are locked by both, and the account's deletion deletes these.
    member = models.ForeignKey(
        Member,
        on_delete=models.DO_NOTHING,
        db_index=False,
        db_constraint=False,
        related_name="+",
    )
    kind = models.CharField(max_length=MAX_KIND_LENGTH)
    # Such as POST; empty if it tells of the member only.
    target_type = models.CharField(max_length=8, default="")
    target_id = models.BigIntegerField(default=0)
    # Who did it last; NULL for the service and for staff.
    actor = models.ForeignKey(
        Member,
        on_delete=models.DO_NOTHING,
        db_index=False,
        db_constraint=False,
        null=True,
        related_name="+",
    )
    count = models.IntegerField(db_default=1)
    at = models.DateTimeField(db_default=Now())
    read_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "inbox_item"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["member", "kind", "target_type", "target_id"],
                condition=models.Q(read_at=None),
                name="inbox_item_unread_once",
            ),
            models.CheckConstraint(
                condition=models.Q(count__gt=0), name="inbox_item_count_positive"
            ),
        ]
        indexes = [
            models.Index(fields=["member", "-id"], name="inbox_item_list"),
            models.Index(fields=["at"], name="inbox_item_age"),
            # Used when the account of the actor is deleted.
            models.Index(
                fields=["actor"],
                condition=models.Q(actor__isnull=False),
                name="inbox_item_by_actor",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for member {self.member_id}"


class MutedKind(models.Model):
    """A kind of items that the member does not want."""

    pk = models.CompositePrimaryKey("member_id", "kind")
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    kind = models.CharField(max_length=MAX_KIND_LENGTH)

    class Meta:
        db_table = "inbox_muted_kind"
        ordering = ["kind"]

    def __str__(self) -> str:
        return f"member {self.member_id} without {self.kind}"
