"""The kinds of inbox items that the board makes (spec 2.19)."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

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
from board.moderation.appeals import OpenAppeal, find_open_appeals
from board.moderation.notes import TELLS_OF_ALL
from board.moderation.notices import CASE

Action = Decision.Action
# Items about what the reader wrote or is, not about what the reader reported.
OWN_KINDS = frozenset({"CONTENT_HIDDEN", "SILENCED"})


class _Notice(NamedTuple):
    """A case with its newest decision, as its author is told of it."""

    case: ModerationCase
    decision: Decision | None
    # Decisions of which the notice tells.
    size: int
    appeal: OpenAppeal | None


def describe(reader: Member, rows: Iterable[ItemRow]) -> dict[int, Description]:
    described: dict[int, Description] = {}
    listed = list(rows)
    posts = _list_posts(listed)
    comments = _list_comments(listed)
    cases = _list_cases(listed)
    sizes = _count_deeds(reader, cases)
    own = {row.target_id for row in listed if row.kind in OWN_KINDS}
    appeals = find_open_appeals(own & cases.keys(), timezone.now())
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
            notice = _Notice(
                case,
                decision,
                sizes.get(_deed_of(decision), 1) if decision else 1,
                appeals.get(case.pk),
            )
            described[row.id] = _describe_case(reader, row, notice)
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
    reader: Member, cases: dict[int, tuple[ModerationCase, Decision | None]]
) -> dict[tuple[int | None, datetime, str], int]:
    """Count what staff did to the reader's content where one notice tells of all."""
    told = [
        decision
        for case, decision in cases.values()
        if decision is not None
        and case.author_id == reader.pk
        and TELLS_OF_ALL in decision.note
    ]
    if not told:
        return {}
    deeds = {_deed_of(decision) for decision in told}
    decisions = Decision.objects.filter(
        case__author=reader, decided_at__in={at for _, at, _ in deeds}
    )
    columns = ("actor_id", "decided_at", "action")
    counted = decisions.values_list(*columns).annotate(size=Count("id")).order_by()
    sizes = {(actor, at, action): size for actor, at, action, size in counted}
    return {deed: sizes[deed] for deed in deeds}


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


def _describe_case(reader: Member, row: ItemRow, notice: _Notice) -> Description:
    target = _target_of(notice.case)
    if row.kind == "REPORT_RESOLVED":
        return Description(_thank_reporter(notice.decision), target)
    if row.kind == "SILENCED":
        return Description(_tell_of_silence(reader, notice), target)
    return Description(_tell_author(notice), target)


def _target_of(case: ModerationCase) -> dict[str, Any]:
    return {"type": case.target_type, "id": case.target_id, "postId": case.post_id}


def _thank_reporter(decision: Decision | None) -> str:
    if decision is None or decision.action == Action.DISMISS:
        return gettext(
            "Thank you for your report. We found nothing against the rules in it."
        )
    return gettext("Thank you for your report. We have acted on it.")


def _tell_author(notice: _Notice) -> str:
    case, decision, size, appeal = notice
    if decision is None:
        return ""
    is_post = case.target_type == TargetType.POST
    name = case.title or (gettext("a post") if is_post else gettext("a comment"))
    if size > 1:
        text = ngettext(
            "{name} and {count} more post or comment of yours",
            "{name} and {count} more posts or comments of yours",
            size - 1,
        )
        name = text.format(name=name, count=f"{size - 1:,}")
    is_shown = decision.action == Action.DISMISS
    parts = (
        _say_what_was_done(decision, case, name),
        "" if is_shown else say_reason(decision.reason),
        gettext("What was hidden or deleted at the same time stays so.")
        if is_shown and appeal
        else "",
        _say_how_to_object(appeal),
    )
    return " ".join(part for part in parts if part)


def _say_what_was_done(decision: Decision, case: ModerationCase, name: str) -> str:
    is_gone = case.target_gone == ModerationCase.Gone.AUTHOR
    match decision.action:
        case Action.DISMISS:
            text = gettext("What you wrote can be seen by all again: {name}.")
        case _ if is_gone:
            text = gettext(
                "What you wrote was against our rules: {name}. It is no longer there."
            )
        case Action.BLIND:
            text = _say_until_when_it_is_blind(decision, case)
        case Action.DELETE:
            text = gettext("What you wrote was deleted: {name}.")
        case _ if decision.is_automatic:
            text = gettext(
                "What you wrote is hidden until our staff have looked at it, because "
                "several members reported it: {name}."
            )
        case _:
            text = gettext("What you wrote was hidden: {name}.")
    until = format_day(case.blind_until) if case.blind_until else ""
    return text.format(name=name, until=until)


def _say_until_when_it_is_blind(decision: Decision, case: ModerationCase) -> str:
    if case.blind_until is None:
        # Another decision has ended it.
        return gettext(
            "What you wrote was hidden for a time, because somebody says that it hurts "
            "their rights: {name}."
        )
    if decision.appeal is not None or decision.is_final:
        # It answers an objection if it is final.
        return gettext(
            "What you wrote is hidden until {until}, because somebody says that it "
            "hurts their rights: {name}. You have objected: it is shown again then."
        )
    return gettext(
        "What you wrote is hidden until {until}, because somebody says that it "
        "hurts their rights: {name}. Without an objection it is deleted then."
    )


def say_reason(reason: str) -> str:
    if not reason:
        return ""
    return _format_reason(str(ReportReason(reason).label))


def _format_reason(reason: str) -> str:
    return gettext("Reason: {reason}.").format(reason=reason.rstrip("."))


def _say_how_to_object(appeal: OpenAppeal | None) -> str:
    if appeal is None:
        return ""
    text = gettext(
        "You can object once, until {until}; another moderator decides then."
    )
    return text.format(until=format_day(appeal.until))


def _tell_of_silence(reader: Member, notice: _Notice) -> str:
    decision, until = notice.decision, reader.silenced_until
    if decision is None or until is None or not reader.is_silenced(timezone.now()):
        return gettext("You can write on the board again.")
    text = gettext(
        "You cannot write on the board until {until}. Your ledger stays open to you."
    ).format(until=format_day(until))
    reason = say_reason(decision.reason)
    if not reason and decision.note:
        reason = _format_reason(decision.note)
    parts = (text, reason, _say_how_to_object(notice.appeal))
    return " ".join(part for part in parts if part)


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
