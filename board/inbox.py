"""The kinds of inbox items that the board makes (spec 2.19)."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from accounts.inbox.sources import Description, InboxSource, ItemRow
from accounts.models import Member
from board.models import (
    Comment,
    Decision,
    ModerationCase,
    Post,
    ReportReason,
    TargetType,
)
from board.moderation.appeals import APPEAL_TIME, may_appeal
from board.moderation.bulk import MAX_SINGLE_NOTICES
from board.moderation.notices import CASE

Action = Decision.Action


def describe(reader: Member, rows: Iterable[ItemRow]) -> dict[int, Description]:
    described: dict[int, Description] = {}
    listed = list(rows)
    posts = _list_posts(listed)
    comments = _list_comments(listed)
    cases = _list_cases(listed)
    sizes = _count_deeds(reader, listed, cases)
    if any(row.kind == "SILENCED" for row in listed):
        reader = Member.objects.only("silenced_until", "silence_reason").get(
            pk=reader.pk
        )
    for row in listed:
        if row.target_type == TargetType.POST and row.target_id in posts:
            described[row.id] = _describe_post_item(row, posts[row.target_id])
        elif row.target_type == TargetType.COMMENT and row.target_id in comments:
            described[row.id] = _describe_reply(row, comments[row.target_id])
        elif row.target_id in cases:
            case, decision = cases[row.target_id]
            size = sizes.get(_deed_of(decision), 1) if decision else 1
            described[row.id] = _describe_case(reader, row, case, decision, size)
    return described


def _ids_of(rows: list[ItemRow], target_type: str) -> list[int]:
    return [row.target_id for row in rows if row.target_type == target_type]


def _list_posts(rows: list[ItemRow]) -> dict[int, Post]:
    ids = _ids_of(rows, TargetType.POST)
    return Post.objects.only("id", "title").in_bulk(ids) if ids else {}


def _list_comments(rows: list[ItemRow]) -> dict[int, Comment]:
    ids = _ids_of(rows, TargetType.COMMENT)
    return Comment.objects.only("id", "post_id").in_bulk(ids) if ids else {}


def _list_cases(
    rows: list[ItemRow],
) -> dict[int, tuple[ModerationCase, Decision | None]]:
    """Return the cases with their newest decisions."""
    ids = _ids_of(rows, CASE)
    if not ids:
        return {}
    newest = Decision.objects.filter(case__in=ids).order_by("case_id", "-id")
    decisions = {each.case_id: each for each in newest.distinct("case_id")}
    cases = ModerationCase.objects.defer("content").in_bulk(ids)
    return {pk: (case, decisions.get(pk)) for pk, case in cases.items()}


def _deed_of(decision: Decision) -> tuple[int | None, datetime, str]:
    return decision.actor_id, decision.decided_at, decision.action


def _count_deeds(
    reader: Member,
    rows: list[ItemRow],
    cases: dict[int, tuple[ModerationCase, Decision | None]],
) -> dict[tuple[int | None, datetime, str], int]:
    """Count what staff did to the reader's content with each of the decisions."""
    told = {row.target_id for row in rows if row.kind == "CONTENT_HIDDEN"}
    moments = {
        decision.decided_at
        for case_id, (_, decision) in cases.items()
        if case_id in told and decision is not None
    }
    if not moments:
        return {}
    decisions = Decision.objects.filter(
        case__author=reader, decided_at__in=moments, is_automatic=False, is_final=False
    )
    columns = ("actor_id", "decided_at", "action")
    counted = decisions.values_list(*columns).annotate(size=Count("id")).order_by()
    return {(actor, at, action): size for actor, at, action, size in counted}


def _describe_post_item(row: ItemRow, post: Post) -> Description:
    target = {"type": TargetType.POST.value, "id": post.pk, "postId": post.pk}
    if row.kind == "POST_HOT":
        text = gettext("Your post “{title}” is hot.").format(title=post.title)
        return Description(text, target)
    text = ngettext(
        "{name} commented on your post “{title}”.",
        "{count} new comments on your post “{title}”, the last one by {name}.",
        row.count,
    )
    return Description(
        text.format(name=row.display_name, count=row.count, title=post.title), target
    )


def _describe_reply(row: ItemRow, comment: Comment) -> Description:
    text = ngettext(
        "{name} replied to your comment.",
        "{count} new replies to your comment, the last one by {name}.",
        row.count,
    )
    target = {
        "type": TargetType.COMMENT.value,
        "id": comment.pk,
        "postId": comment.post_id,
    }
    return Description(text.format(name=row.display_name, count=row.count), target)


def _describe_case(
    reader: Member,
    row: ItemRow,
    case: ModerationCase,
    decision: Decision | None,
    size: int,
) -> Description:
    if row.kind == "REPORT_RESOLVED":
        return Description(_thank_reporter(decision), _target_of(case))
    if row.kind == "SILENCED":
        return Description(_tell_of_silence(reader, decision), _target_of(case))
    return Description(_tell_author(case, decision, size), _target_of(case))


def _target_of(case: ModerationCase) -> dict[str, Any]:
    return {"type": case.target_type, "id": case.target_id, "postId": case.post_id}


def _thank_reporter(decision: Decision | None) -> str:
    if decision is None or decision.action == Action.DISMISS:
        return gettext(
            "Thank you for your report. We found nothing against the rules in it."
        )
    return gettext("Thank you for your report. We have acted on it.")


def _tell_author(case: ModerationCase, decision: Decision | None, size: int) -> str:
    if decision is None:
        return ""
    is_post = case.target_type == TargetType.POST
    name = case.title or (gettext("a post") if is_post else gettext("a comment"))
    if size > MAX_SINGLE_NOTICES:
        # One notice tells of all.
        text = gettext("{name} and {count} more posts or comments of yours")
        name = text.format(name=name, count=f"{size - 1:,}")
    return " ".join(
        part
        for part in (
            _say_what_was_done(decision, case, name),
            say_reason(decision.reason),
            _say_how_to_object(decision),
        )
        if part
    )


def _say_what_was_done(decision: Decision, case: ModerationCase, name: str) -> str:
    match decision.action:
        case Action.DISMISS:
            text = gettext("What you wrote can be seen by all again: {name}.")
        case Action.BLIND:
            text = gettext(
                "What you wrote is hidden until {until}, because somebody says that it "
                "hurts their rights: {name}. Without an objection it is deleted then."
            )
        case Action.DELETE:
            text = gettext("What you wrote was deleted: {name}.")
        case _ if decision.is_automatic:
            text = gettext(
                "What you wrote is hidden until our staff have looked at it, because "
                "several members reported it: {name}."
            )
        case _:
            text = gettext("What you wrote was hidden: {name}.")
    days = timedelta(days=settings.BLIND_DAYS)
    until = case.blind_until or decision.decided_at + days
    return text.format(name=name, until=format_day(until))


def say_reason(reason: str) -> str:
    if not reason:
        return ""
    label = str(ReportReason(reason).label)
    return gettext("Reason: {reason}.").format(reason=label)


def _say_how_to_object(decision: Decision) -> str:
    if not may_appeal(decision, timezone.now()):
        return ""
    last_day = format_day(decision.decided_at + APPEAL_TIME)
    text = gettext(
        "You can object once, until {until}; another moderator decides then."
    )
    return text.format(until=last_day)


def _tell_of_silence(reader: Member, decision: Decision | None) -> str:
    until = reader.silenced_until
    if decision is None or until is None or not reader.is_silenced(timezone.now()):
        return gettext("You can write on the board again.")
    text = gettext(
        "You cannot write on the board until {until}. Your ledger stays open to you."
    ).format(until=format_day(until))
    reason = say_reason(decision.reason) or decision.note
    return " ".join(
        part for part in (text, reason, _say_how_to_object(decision)) if part
    )


def format_day(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d}"


SOURCE = InboxSource(
    # Decisions about a member's content and rights are always told.
    kinds={
        "COMMENT": True,
        "REPLY": True,
        "POST_HOT": True,
        "REPORT_RESOLVED": True,
        "CONTENT_HIDDEN": False,
        "SILENCED": False,
    },
    is_shown={
        TargetType.POST.value: (
            "EXISTS (SELECT FROM board_post p"
            " WHERE p.id = i.target_id AND NOT p.is_hidden)"
        ),
        TargetType.COMMENT.value: (
            "EXISTS (SELECT FROM board_comment c JOIN board_post p ON p.id = c.post_id"
            " WHERE c.id = i.target_id AND NOT c.is_hidden AND NOT p.is_hidden)"
        ),
        CASE: "EXISTS (SELECT FROM board_case c WHERE c.id = i.target_id)",
    },
    describe=describe,
)
