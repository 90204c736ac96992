"""Votes on posts and comments (spec 5.4).

A lock on the post or comment orders concurrent votes. Triggers keep the counters.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db import transaction

from accounts.inbox.items import add_items
from accounts.models import InboxItem, Member
from board.errors import SelfVoteError
from board.locking import lock_comment, lock_post, lock_voice
from board.models import Comment, CommentVote, Post, PostVote, TargetType
from board.models.content import HOT_UP_VOTES
from board.post_list import MAX_HOT_AGE
from board.rate_limits import count_write
from core.db.transactions import retry_on_conflict

VoteChoice = Literal["up", "down"]
VOTE_VALUE_BY_CHOICE: dict[str, int | None] = {"up": 1, "down": -1, "none": None}
VOTE_CHOICE_BY_VALUE: dict[int | None, VoteChoice | None] = {
    1: "up",
    -1: "down",
    None: None,
}


@dataclass(frozen=True, slots=True)
class VoteRequest:
    """A requested vote: `value` toggles, `state` sets."""

    value: VoteChoice | None = None
    state: Literal["up", "down", "none"] | None = None

    def resolve(self, current: int | None) -> int | None:
        """Return the vote that follows: 1, -1 or None."""
        if self.value is None:
            return VOTE_VALUE_BY_CHOICE[self.state or "none"]
        wanted = VOTE_VALUE_BY_CHOICE[self.value]
        return None if wanted == current else wanted


@dataclass(frozen=True, slots=True)
class VoteResult:
    up_count: int
    down_count: int
    my_vote: VoteChoice | None


@retry_on_conflict
@transaction.atomic
def vote_on_post(
    member: Member, post_id: int, request: VoteRequest, now: datetime
) -> VoteResult:
    lock_voice(member, now)
    post = lock_post(post_id)
    result = _apply_vote(member, post, PostVote, {"post": post}, request)
    _tell_of_hot_post(post, result, now)
    return result


def _tell_of_hot_post(post: Post, result: VoteResult, now: datetime) -> None:
    """Tell the author once that the post has become hot."""
    becomes_hot = post.up_count < HOT_UP_VOTES <= result.up_count
    if not becomes_hot or post.created_at < now - MAX_HOT_AGE:
        return
    known = InboxItem.objects.filter(
        member=post.member_id,
        kind="POST_HOT",
        target_type=TargetType.POST,
        target_id=post.pk,
    )
    if not known.exists():
        add_items(
            [post.member_id],
            "POST_HOT",
            target_type=TargetType.POST,
            target_id=post.pk,
        )


@retry_on_conflict
@transaction.atomic
def vote_on_comment(
    member: Member, comment_id: int, request: VoteRequest, now: datetime
) -> VoteResult:
    lock_voice(member, now)
    comment = lock_comment(comment_id)
    return _apply_vote(member, comment, CommentVote, {"comment": comment}, request)


def _apply_vote(
    member: Member,
    target: Post | Comment,
    vote_model: type[PostVote] | type[CommentVote],
    target_field: dict[str, Post | Comment],
    request: VoteRequest,
) -> VoteResult:
    if target.member_id == member.pk:
        raise SelfVoteError
    count_write(member, "votes")
    votes = vote_model._default_manager
    vote = votes.filter(member=member, **target_field).first()
    before = vote.value if vote else None
    after = request.resolve(before)
    if vote and after is None:
        vote.delete()
    elif vote and after is not None and after != before:
        vote.value = after
        vote.save(update_fields=["value"])
    elif after is not None and vote is None:
        votes.create(member=member, value=after, **target_field)
    # The locked target was read before this vote was counted.
    return VoteResult(
        up_count=target.up_count + (after == 1) - (before == 1),
        down_count=target.down_count + (after == -1) - (before == -1),
        my_vote=VOTE_CHOICE_BY_VALUE[after],
    )
