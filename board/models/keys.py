"""Keys of requests to the board."""

from django.db import models

from accounts.models import Member
from core.api.keyed_answers import KeyedAnswer


class PostKey(KeyedAnswer):
    """The answer to a new post or comment that had an `Idempotency-Key` (spec 3.23)."""

    owner_columns = ("member_id",)

    pk = models.CompositePrimaryKey("member_id", "key")
    member = models.ForeignKey(
        Member, on_delete=models.CASCADE, db_index=False, related_name="+"
    )

    class Meta:
        db_table = "board_post_key"
        ordering = ["created_at"]
        indexes = [
            # The oldest ones go first.
            models.Index(fields=["member", "created_at"], name="board_post_key_by_age")
        ]
