"""Votes: toggled or set, counted by the database, never on one's own.

The row that is voted on is locked before its votes are looked at, so that votes at
once are counted one after the other.
"""

from dataclasses import dataclass
from typing import Literal

from django.db import transaction

from accounts.models import Member
from board.errors import SelfVoteError
from board.locking import lock_comment, lock_member_key_share, lock_post
from board.models import Comment, CommentVote, Post, PostVote

VoteChoice = Literal["up", "down"]
VOTE_VALUE_BY_CHOICE: dict[str, int | None] = {"up": 1, "down": -1, "none": None}
VOTE_CHOICE_BY_VALUE: dict[int | None, VoteChoice | None] = {
    1: "up",
    -1: "down",
    None: None,
}


@dataclass(frozen=True, slots=True)
class VoteRequest:
    """What a member asks for: `value` toggles, else `state` is what shall be."""

    value: VoteChoice | None = None
    state: Literal["up", "down", "none"] | None = None

    def resolve(self, current: int | None) -> int | None:
        """The vote that follows from the current one: 1, -1 or none.

        The same vote again withdraws, the other one switches; a state that is asked
        for stays however often it is asked for (spec 5.4).
        """
        if self.value is None:
            return VOTE_VALUE_BY_CHOICE[self.state or "none"]
        wanted = VOTE_VALUE_BY_CHOICE[self.value]
        return None if wanted == current else wanted


@dataclass(frozen=True, slots=True)
class VoteResult:
    """The counters after a vote, and the caller's own vote."""

    up_count: int
    down_count: int
    my_vote: VoteChoice | None


@transaction.atomic
def vote_on_post(member: Member, post_id: int, ballot: VoteRequest) -> VoteResult:
    """Vote on a post of somebody else; `SelfVoteError` on one's own, or `NotFound`."""
    lock_member_key_share(member)
    post = lock_post(post_id)
    return _apply_vote(member, post, PostVote, {"post": post}, ballot)


@transaction.atomic
def vote_on_comment(member: Member, comment_id: int, ballot: VoteRequest) -> VoteResult:
    """Vote on a comment of somebody else, as on a post."""
    lock_member_key_share(member)
    comment = lock_comment(comment_id)
    return _apply_vote(member, comment, CommentVote, {"comment": comment}, ballot)


def _apply_vote(
    member: Member,
    target: Post | Comment,
    votes: type[PostVote] | type[CommentVote],
    of_target: dict[str, Post | Comment],
    ballot: VoteRequest,
) -> VoteResult:
    if target.member_id == member.pk:
        raise SelfVoteError
    vote = votes._default_manager.filter(member=member, **of_target).first()
    current = vote.value if vote else None
    wanted = ballot.resolve(current)
    if vote and wanted is None:
        vote.delete()
    elif vote and wanted is not None and wanted != current:
        vote.value = wanted
        vote.save(update_fields=["value"])
    elif wanted is not None and vote is None:
        votes._default_manager.create(member=member, value=wanted, **of_target)
    return _vote_result(target, current, wanted)


def _vote_result(
    target: Post | Comment, before: int | None, after: int | None
) -> VoteResult:
    """What the triggers made of the counters, by difference: the row is locked."""
    return VoteResult(
        up_count=target.up_count + (after == 1) - (before == 1),
        down_count=target.down_count + (after == -1) - (before == -1),
        my_vote=VOTE_CHOICE_BY_VALUE[after],
    )
