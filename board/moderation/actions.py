"""What staff do without a report: delete, pin; many at once: `board.moderation.bulk`.

The audit log names content by id only, since it outlives the content.
"""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.models import Member
from accounts.security.audit_log import CHANGE, DELETION, log_admin_action
from board.images import delete_images
from board.locking import lock_member_key_share, lock_post, lock_posts
from board.models import Decision, Image, Post, TargetType
from board.moderation.decisions import Judgement, judge_content, require_judge
from core.api.permissions import AdminRequiredError
from core.db.transactions import retry_on_conflict
from core.errors import NotFoundError

Action = Decision.Action


def delete_posts(actor: Member, post_ids: Collection[int], now: datetime) -> int:
    """Delete posts; they stay hidden for `BOARD_KEPT_DAYS`, and can be shown again."""
    return _delete_each(actor, TargetType.POST, post_ids, now)


def delete_comments(actor: Member, comment_ids: Collection[int]) -> int:
    return _delete_each(actor, TargetType.COMMENT, comment_ids, timezone.now())


def _delete_each(
    actor: Member, target_type: TargetType, ids: Collection[int], now: datetime
) -> int:
    judgement = Judgement(Action.DELETE)
    changed = 0
    for target_id in sorted(ids):
        try:
            changed += judge_content(actor, target_type, target_id, judgement, now)
        except NotFoundError:
            # Somebody else has deleted it meanwhile.
            continue
    return changed


@retry_on_conflict
@transaction.atomic
def mark_notices(actor: Member, post_ids: Collection[int], *, notice: bool) -> int:
    lock_member_key_share(actor)
    if not _read_standing(actor).is_administrator:
        raise AdminRequiredError
    lock_posts(post_ids)
    posts = Post.objects.only("id").filter(pk__in=post_ids, is_notice=not notice)
    message = "Marked as notice." if notice else "Unmarked as notice."
    return _update_and_log(actor, posts, message, is_notice=notice)


@retry_on_conflict
@transaction.atomic
def set_notice(actor: Member, post_id: int, *, notice: bool) -> None:
    """Pin or unpin a visible post (spec 5.5); raise `NotFoundError`."""
    lock_member_key_share(actor)
    lock_post(post_id)
    mark_notices(actor, [post_id], notice=notice)


@retry_on_conflict
@transaction.atomic
def delete_shown_images(actor: Member, image_ids: Collection[UUID]) -> int:
    """Delete images; moderators none of staff."""
    lock_member_key_share(actor)
    chosen = Image.objects.filter(pk__in=image_ids)
    if not _read_standing(actor).is_administrator:
        chosen = chosen.filter(Q(member=actor) | Q(member__role=Member.Role.MEMBER))
    deleted = delete_images(chosen.values_list("pk", flat=True))
    for image_id in deleted:
        log_admin_action(actor, Image(pk=image_id), DELETION)
    return len(deleted)


def _read_standing(actor: Member) -> Member:
    """Return the actor as stored; raise `ModeratorRequiredError` for a former one."""
    current = Member.objects.only("role", "status").get(pk=actor.pk)
    require_judge(current, {current.pk: current}, None)
    return current


def _update_and_log(
    actor: Member, rows: QuerySet[Post], message: str, **values: bool
) -> int:
    """Set a flag of locked rows; return their number."""
    for row in list(rows):
        log_admin_action(actor, row, CHANGE, message)
    return rows.update(**values)
