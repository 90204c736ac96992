"""A deed on many rows does to each what a decision about it alone does."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from accounts.models import AuditLogEntry, InboxItem, Member, PointHistory
from board.models import Comment, Decision, ModerationCase, Post, TargetType
from board.moderation import bulk
from board.moderation.bulk import judge_all, start_deed
from board.moderation.decisions import Judgement, judge_content
from board.moderation.notes import HIDDEN_BEFORE, TELLS_OF_ALL
from core.errors import DomainError
from tests.support.board import find_counter_drift
from tests.support.cases import make_blind, make_case
from tests.support.factories import make_comment, make_member, make_post

NOW = timezone.now()
KEPT = timedelta(days=30)
Row = Post | Comment
CASE_FIELDS = (
    *("kind", "status", "reason", "report_count", "target_gone"),
    *("owes_points", "blind_until"),
)
DECISION_FIELDS = (
    *("action", "reason", "silence_days", "is_automatic", "is_final", "appeal"),
)


def hide(row: Row, reason: str, **more: Any) -> None:
    values = {"is_hidden": True, "hidden_reason": reason} | more
    type(row)._default_manager.filter(pk=row.pk).update(**values)


def hold(row: Row) -> None:
    hide(row, "HELD")
    make_case(row, kind="HELD", owes_points=True, report_count=0)


def hide_by_reports(row: Row) -> None:
    hide(row, "REPORTS")
    case = make_case(row)
    Decision.objects.create(case=case, action="HIDE", is_automatic=True)


def wait_for_reports(row: Row) -> None:
    make_case(row, status="WAITING")


def blind(row: Row) -> None:
    assert isinstance(row, Post)
    make_blind(make_member(role="ADMIN"), row, NOW - timedelta(days=1))


def delete(row: Row) -> None:
    hide(row, "STAFF", remove_after=NOW + timedelta(days=3))
    make_case(row, kind="STAFF", status="RESOLVED", target_gone="STAFF")


STATES: dict[str, Callable[[Row], None]] = {
    "shown": lambda row: None,
    "hidden": lambda row: hide(row, "STAFF"),
    "deleted": delete,
    "reported": lambda row: void(make_case(row)),
    "waiting": wait_for_reports,
    "held": hold,
    "hidden by reports": hide_by_reports,
    "blind": blind,
    "dismissed": lambda row: void(make_case(row, status="RESOLVED")),
}
# What a deed passes over, with the cases that wait: it decides none of them unread.
PASSED_OVER = {
    "HIDE": {"hidden", "deleted", "held", "hidden by reports", "blind"},
    "DISMISS": {"shown", "reported", "waiting", "dismissed"},
    "DELETE": {"deleted"},
}


def void(_: object) -> None:
    """Drop a result."""


def describe(row: Row, author: Member) -> dict[str, Any]:
    """Return all that a decision leaves, without ids."""
    about = {"target_type": row._meta.label.split(".")[1].upper(), "target_id": row.pk}
    stored = type(row)._default_manager.filter(pk=row.pk)
    cases = ModerationCase.objects.filter(**about).order_by("id")
    logged = AuditLogEntry.objects.filter(target_id=str(row.pk)).order_by("id")
    decisions = Decision.objects.filter(case__in=cases).order_by("id")
    items = InboxItem.objects.filter(member=author).order_by("id")
    return {
        "row": list(stored.values("is_hidden", "hidden_reason", "remove_after")),
        "cases": [
            {
                **{name: getattr(case, name) for name in CASE_FIELDS},
                "is_whole": case.content == row.content,
                "is_new": case.opened_at == NOW,
            }
            for case in cases
        ],
        "decisions": list(decisions.values(*DECISION_FIELDS)),
        "log": [
            (entry.action, entry.text.partition(" Case")[0], entry.target_label[:4])
            for entry in logged
        ],
        "items": list(items.values("kind", "target_type", "count")),
        "points": PointHistory.objects.filter(member=author).count(),
        "reports": [
            list(case.reports.values("reason", "outcome", "note")) for case in cases
        ],
    }


@pytest.mark.parametrize("kept_days", [30, 0])
@pytest.mark.parametrize("action", ["HIDE", "DELETE", "DISMISS"])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("target_type", [TargetType.POST, TargetType.COMMENT])
def test_row_of_a_deed_is_decided_as_one_alone(
    judge: Member,
    settings: Any,
    target_type: TargetType,
    state: str,
    action: str,
    kept_days: int,
) -> None:
    if target_type == TargetType.COMMENT and state in {"held", "blind"}:
        pytest.skip("only posts are held")
    settings.BOARD_KEPT_DAYS = kept_days
    judgement = Judgement(action, "" if action == "DISMISS" else "SPAM")
    found = []
    for is_alone in (True, False):
        author = make_member()
        is_post = target_type == TargetType.POST
        row: Row = make_post(author) if is_post else make_comment(author)
        STATES[state](row)
        before = describe(row, author)
        if is_alone:
            judge_content(judge, target_type, row.pk, judgement, NOW)
        else:
            targets = {target_type: [row.pk]}
            outcome = judge_all(start_deed(judge, judgement, NOW, targets), targets)
        found.append(describe(row, author))
    if state in PASSED_OVER[action]:
        assert found[1] == before
        assert (outcome.changed, outcome.unchanged) == (0, 1)
    else:
        assert found[0] == found[1]
        assert (outcome.changed, outcome.unchanged) == (1, 0)
    assert find_counter_drift() == []


def test_deed_notes_for_staff_what_it_deleted_while_it_was_hidden(
    judge: Member,
) -> None:
    author = make_member()
    rows = [make_post(author) for _ in range(3)]
    hide(rows[1], "STAFF")
    hide_by_reports(rows[2])
    targets = {TargetType.POST: [row.pk for row in rows]}
    judge_all(start_deed(judge, Judgement("DELETE", "SPAM"), NOW, targets), targets)
    notes = Decision.objects.filter(is_automatic=False).order_by("case__target_id")
    assert list(notes.values_list("note", flat=True)) == [
        *("", HIDDEN_BEFORE, HIDDEN_BEFORE)
    ]


@pytest.mark.parametrize("is_reported", [True, False])
def test_case_that_tells_of_a_deed_says_so_to_staff(
    judge: Member, author: Member, is_reported: bool
) -> None:
    rows = [make_post(author) for _ in range(6)]
    hide(rows[0], "STAFF")
    if is_reported:
        for row in rows:
            make_case(row)
    targets = {TargetType.POST: [row.pk for row in rows]}
    judge_all(start_deed(judge, Judgement("DELETE", "SPAM"), NOW, targets), targets)
    item = InboxItem.objects.get(member=author)
    notes = Decision.objects.order_by("case__target_id").values_list("note", "case_id")
    assert notes[0] == (f"{HIDDEN_BEFORE} {TELLS_OF_ALL}", item.target_id)
    assert [note for note, _ in notes[1:]] == [""] * 5


def test_deed_counts_what_it_left(
    judge: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    monkeypatch.setattr(bulk, "PAUSE_SECONDS", 0)
    author = make_member()
    shown = [make_post(author).pk for _ in range(3)]
    hidden = make_post(author)
    hide(hidden, "STAFF")
    place = make_comment(None, post=hidden, is_hidden=True, content="")
    targets = {
        TargetType.POST: [
            *(*shown, hidden.pk, make_post(judge).pk, 10**9),
            make_post(make_member(role="ADMIN")).pk,
        ],
        TargetType.COMMENT: [place.pk, make_comment(author).pk],
    }
    deed = start_deed(judge, Judgement("HIDE", "SPAM"), NOW, targets)
    outcome = judge_all(deed, targets)
    assert (outcome.changed, outcome.unchanged, outcome.refused) == (4, 1, 2)
    assert (outcome.gone, outcome.left, outcome.error) == (2, 0, None)
    moments = Decision.objects.values_list("decided_at", flat=True)
    assert set(moments) == {NOW}


@pytest.mark.parametrize("is_demoted", [True, False])
def test_interrupted_batch_counts_what_it_has_done(
    judge: Member, monkeypatch: pytest.MonkeyPatch, is_demoted: bool
) -> None:
    author = make_member()
    posts = [make_post(author) for _ in range(12)]
    for post in posts[:3]:
        make_case(post)
    judged = []

    def judge_until_interrupted(*args: Any, **options: Any) -> bool:
        judged.append(args)
        if len(judged) == 2 and is_demoted:
            Member.objects.filter(pk=judge.pk).update(role="MEMBER")
        elif len(judged) == 2:
            raise OperationalError from LockNotAvailable()
        return judge_content(*args, **options)

    monkeypatch.setattr(bulk, "judge_content", judge_until_interrupted)
    targets = {TargetType.POST: [post.pk for post in posts]}
    deed = start_deed(judge, Judgement("HIDE", "SPAM"), NOW, targets)
    outcome = judge_all(deed, targets)
    hidden = Post.objects.filter(is_hidden=True).count()
    assert (hidden, outcome.changed, outcome.left) == (10, 10, 2)
    assert (outcome.error is not None) is is_demoted


def object_to(row: Row, judge: Member) -> ModerationCase:
    """Hide a row, and let its author object."""
    hide(row, "STAFF")
    case = make_case(row)
    Decision.objects.create(
        case=case, action="HIDE", actor=judge, appeal="No", appealed_at=NOW
    )
    return case


@pytest.mark.parametrize("action", ["HIDE", "DISMISS", "DELETE"])
@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize("kept_days", [30, 0])
def test_deed_decides_no_objection(
    judge: Member, settings: Any, kept_days: int, is_own: bool, action: str
) -> None:
    settings.BOARD_KEPT_DAYS = kept_days
    other = make_member(role="ADMIN")
    post = make_post(make_member())
    case = object_to(post, judge if is_own else other)
    before = describe(post, post.member)
    targets = {TargetType.POST: [post.pk]}
    judgement = Judgement(action, "" if action == "DISMISS" else "SPAM")
    outcome = judge_all(start_deed(judge, judgement, NOW, targets), targets)
    # A hidden post is not hidden again, with an objection or without.
    expected = (1, 0) if action == "HIDE" else (0, 1)
    assert (outcome.unchanged, outcome.appealed) == expected
    assert (outcome.changed, outcome.refused) == (0, 0)
    assert describe(post, post.member) == before
    case.refresh_from_db()
    assert case.status == "OPEN"


@pytest.mark.parametrize("change", [{"role": "MEMBER"}, {"status": "SUSPENDED"}])
def test_former_moderator_does_nothing(judge: Member, change: dict[str, str]) -> None:
    post = make_post(make_member())
    Member.objects.filter(pk=judge.pk).update(**change)
    targets = {TargetType.POST: [post.pk]}
    outcome = judge_all(
        start_deed(judge, Judgement("HIDE", "SPAM"), NOW, targets), targets
    )
    assert isinstance(outcome.error, DomainError)
    assert (outcome.changed, outcome.left) == (0, 1)
    assert not Decision.objects.exists()
