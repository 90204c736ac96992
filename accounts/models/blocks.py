"""Members whose content a member does not want to see."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Member


class Block(models.Model):
    """A member who has blocked another one on the board (spec 5.9).

    The blocked member still sees everything, and gets no message about it.
    """

    pk = models.CompositePrimaryKey("member_id", "blocked_id")
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    blocked = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        db_table = "member_block"
        ordering = ["-created_at", "blocked_id"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(member=models.F("blocked")),
                name="member_block_of_another",
            )
        ]
        indexes = [
            # Finds the blocks of a member who leaves.
            models.Index(fields=["blocked"], name="member_block_by_blocked"),
            models.Index(
                fields=["member", "-created_at", "blocked"], name="member_block_list"
            ),
        ]

    def __str__(self) -> str:
        return f"member {self.member_id} blocks {self.blocked_id}"
