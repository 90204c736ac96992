"""Deeds of staff on many rows beside each other, authors and jobs (spec 7.9)."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.account_deletion import delete_account
from accounts.models import AuditLogEntry, InboxItem, Member
from administration.members import set_member_role
from board.errors import AppealClosedError
from board.models import Comment, Decision, ModerationCase, Post, TargetType
from board.moderation import bulk
from board.moderation.appeals import appeal
from board.moderation.bulk import Outcome, judge_all, start_deed
from board.moderation.decisions import Judgement, judge_content
from board.moderation.deeds import (
    judge_author,
    list_deeds,
    list_targets_of,
    undo_deed,
)
from board.moderation.expiry import remove_deleted
from tests.support.board import find_counter_drift
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.races import (
    call_before,
    caller,
    lock_timeout,
    run_concurrently,
    sorted_statuses,
    without_locks,
)

pytestmark = pytest.mark.django_db(transaction=True)

B = "/api/board"
POSTS = 12


@pytest.fixture
def author() -> Member:
    return make_member(login_id="author")


@pytest.fixture
def posts(author: Member) -> list[Post]:
    return [make_post(author) for _ in range(POSTS)]


@pytest.fixture
def judge() -> Member:
    return make_member(role="MODERATOR")


def run_deed(actor: Member, action: str = "HIDE") -> Outcome:
    """Hide or delete all posts, whoever wrote them."""
    targets = {TargetType.POST: list(Post.objects.values_list("pk", flat=True))}
    judgement = Judgement(action, "SPAM")
    return judge_all(start_deed(actor, judgement, timezone.now(), targets), targets)


def undo_newest(actor: Member, author: Member) -> Outcome:
    now = timezone.now()
    return undo_deed(actor, author.pk, list_deeds(author.pk, now)[0].key, now)


def test_of_two_deeds_at_once_each_row_is_decided_once(
    posts: list[Post], judge: Member
) -> None:
    other = partial(run_deed, make_member(role="MODERATOR"))
    with without_locks(), call_before("INSERT INTO board_case", other) as second:
        run_deed(judge)
    assert second.result().changed == POSTS
    assert Decision.objects.count() == 2 * POSTS, "both decide"
    ModerationCase.objects.all().delete()
    InboxItem.objects.all().delete()
    Post.objects.update(is_hidden=False, hidden_reason=None)
    with call_before("INSERT INTO board_case", other) as second:
        first = run_deed(judge)
    assert (first.changed, second.result().changed) == (POSTS, 0)
    assert second.result().unchanged == POSTS
    assert Decision.objects.count() == ModerationCase.objects.count() == POSTS
    assert InboxItem.objects.count() == 1


def test_deeds_in_small_batches_beside_each_other(
    posts: list[Post], judge: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 2)
    monkeypatch.setattr(bulk, "PAUSE_SECONDS", 0)
    staff = [judge, *(make_member(role="ADMIN") for _ in range(3))]
    outcomes = run_concurrently([partial(run_deed, each) for each in staff])
    assert sum(each.changed for each in outcomes) == POSTS
    assert sum(each.unchanged for each in outcomes) == POSTS * (len(staff) - 1)
    assert Decision.objects.count() == ModerationCase.objects.count() == POSTS
    assert AuditLogEntry.objects.filter(text__startswith="Hidden.").count() == POSTS
    assert find_counter_drift() == []


@pytest.mark.parametrize("is_first", [True, False])
def test_deed_beside_the_deletion_of_a_post_by_its_author(
    author: Member, posts: list[Post], judge: Member, is_first: bool
) -> None:
    deletion = caller(JSONClient(author), "DELETE", f"{B}/posts/{posts[3].pk}")
    if is_first:
        # The author is quicker than the locks of the deed.
        with call_before('FROM "member" WHERE "member"."id" IN', deletion) as other:
            outcome = run_deed(judge, "DELETE")
        assert (outcome.changed, outcome.gone) == (POSTS - 1, 1)
    else:
        with call_before("INSERT INTO board_case", deletion) as other:
            outcome = run_deed(judge, "DELETE")
        assert (outcome.changed, outcome.gone) == (POSTS, 0)
    # What staff have deleted is no more the author's to delete.
    assert other.result().status_code == (204 if is_first else 404)
    assert Post.objects.filter(remove_after=None).count() == 0
    assert Decision.objects.count() == POSTS - is_first
    assert find_counter_drift() == []


def test_deed_beside_many_deletions_by_the_author(
    author: Member, judge: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 3)
    monkeypatch.setattr(bulk, "PAUSE_SECONDS", 0)
    for _ in range(3):
        post = make_post(make_member())
        comments = [make_comment(author, post=post) for _ in range(8)]
        rows = [make_post(author) for _ in range(4)]
        targets = list_targets_of(author.pk, "DELETE")
        now = timezone.now()
        phone = JSONClient(author)
        calls: list[Any] = [
            partial(judge_author, judge, targets, "DELETE", "SPAM", now),
            *(
                caller(phone, "DELETE", f"{B}/comments/{comment.pk}")
                for comment in comments[::2]
            ),
            caller(phone, "DELETE", f"{B}/posts/{rows[0].pk}"),
        ]
        outcome, *answers = run_concurrently(calls)
        assert set(sorted_statuses(answers)) <= {204, 404}
        deleted = sorted_statuses(answers).count(204)
        assert (outcome.changed + deleted, outcome.left) == (12, 0)
        assert not any(list_targets_of(author.pk, "DELETE").values())
        assert find_counter_drift() == []


@pytest.mark.parametrize("is_first", [True, False])
def test_undo_beside_the_job_that_removes(
    author: Member, posts: list[Post], judge: Member, is_first: bool
) -> None:
    judge_author(
        judge, list_targets_of(author.pk, "DELETE"), "DELETE", "SPAM", timezone.now()
    )
    later = timezone.now() + timedelta(days=99)
    if is_first:
        # The job has listed the rows, and waits for the undo.
        job = partial(remove_deleted, later)
        with call_before("INSERT INTO board_case", job) as removed:
            outcome = undo_newest(judge, author)
        assert outcome.changed == POSTS
        assert removed.result() == 0
        assert Post.objects.filter(is_hidden=False).count() == POSTS
    else:
        undo = partial(undo_newest, judge, author)
        with call_before('DELETE FROM "board_post" ', undo) as undone:
            removed_count = remove_deleted(later)
        outcome = undone.result()
        shown = Post.objects.filter(is_hidden=False).count()
        assert (outcome.changed, removed_count) == (shown, POSTS - shown)
        assert outcome.gone == removed_count
        assert removed_count
    assert Post.objects.filter(remove_after__isnull=False).count() == 0
    assert find_counter_drift() == []


def test_undo_beside_a_new_decision(
    author: Member, posts: list[Post], judge: Member
) -> None:
    targets = list_targets_of(author.pk, "HIDE")
    judge_author(judge, targets, "HIDE", "SPAM", timezone.now())
    other = make_member(role="ADMIN")

    def decide() -> None:
        for action in ("DISMISS", "HIDE"):
            now = timezone.now()
            judgement = Judgement(action, "ABUSE")
            judge_content(other, TargetType.POST, posts[0].pk, judgement, now)

    # The rows of the deed are known, but not yet locked.
    with call_before('FROM "member" WHERE "member"."id" IN', decide) as decided:
        outcome = undo_newest(judge, author)
    decided.result()
    assert (outcome.changed, outcome.unchanged) == (POSTS - 1, 1)
    assert Post.objects.get(is_hidden=True) == posts[0]


def test_objection_that_comes_during_the_deed_is_left(
    author: Member, posts: list[Post], judge: Member
) -> None:
    run_deed(judge)
    case = ModerationCase.objects.get(target_id=posts[0].pk)
    # Its blind case makes it a row that is decided alone, after the others.
    ModerationCase.objects.filter(pk=case.pk).update(blind_until=timezone.now())
    objection = partial(appeal, author, case.pk, "No", timezone.now())
    with call_before('SELECT "board_post"."member_id"', objection) as said:
        outcome = run_deed(judge, "DISMISS")
    said.result()
    assert (outcome.changed, outcome.appealed) == (POSTS - 1, 1)
    assert Post.objects.get(is_hidden=True) == posts[0]
    assert Decision.objects.filter(action="DISMISS").count() == POSTS - 1


def test_objection_goes_on_to_what_stands_if_somebody_decides_meanwhile(
    author: Member, posts: list[Post], judge: Member
) -> None:
    run_deed(judge)
    other = make_member(role="ADMIN")

    def show_first() -> None:
        judgement, now = Judgement("DISMISS"), timezone.now()
        judge_content(other, TargetType.POST, posts[0].pk, judgement, now)

    told_by = InboxItem.objects.get(member=author).target_id
    # The case to reopen is known, but nothing is locked yet.
    with call_before('FROM "member" WHERE "member"."id" IN', show_first) as shown:
        appeal(author, told_by, "No", timezone.now())
    shown.result()
    appealed = Decision.objects.get(appeal__isnull=False)
    assert appealed.case.target_id == posts[1].pk
    assert appealed.case.status == "OPEN"


def test_two_objections_to_a_deed_at_once_reopen_one_case(
    author: Member, posts: list[Post], judge: Member
) -> None:
    run_deed(judge)
    told_by = InboxItem.objects.get(member=author).target_id
    objection = partial(appeal, author, told_by, "No", timezone.now())
    with (
        call_before('FROM "member" WHERE "member"."id" IN', objection) as other,
        pytest.raises(AppealClosedError),
    ):
        objection()
    other.result()
    assert Decision.objects.filter(appeal__isnull=False).count() == 1
    assert ModerationCase.objects.filter(status="OPEN").count() == 1


def test_two_undos_at_once_show_each_row_once(
    author: Member, posts: list[Post], judge: Member
) -> None:
    targets = list_targets_of(author.pk, "HIDE")
    judge_author(judge, targets, "HIDE", "SPAM", timezone.now())
    now = timezone.now()
    key = list_deeds(author.pk, now)[0].key
    staff = [judge, make_member(role="ADMIN")]
    calls = [partial(undo_deed, each, author.pk, key, now) for each in staff]
    outcomes = run_concurrently(calls)
    assert sum(each.changed for each in outcomes) == POSTS
    assert Decision.objects.filter(action="DISMISS").count() == POSTS


def test_moderator_who_loses_the_role_stops(
    posts: list[Post], judge: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 3)
    chief = make_member(role="ADMIN")
    demote = partial(set_member_role, chief, judge.pk, Member.Role.MEMBER)
    with call_before("INSERT INTO board_case", demote) as demoted:
        outcome = run_deed(judge)
    demoted.result()
    # The batch that held the role's row is whole, no other one has begun.
    assert (outcome.changed, outcome.left) == (3, POSTS - 3)
    assert outcome.error is not None
    assert outcome.error.code == "MODERATOR_REQUIRED"
    assert Decision.objects.count() == 3


@pytest.mark.parametrize("is_first", [True, False])
def test_deed_beside_the_deletion_of_the_account(
    author: Member, posts: list[Post], judge: Member, is_first: bool
) -> None:
    if is_first:
        gone = partial(delete_account, author)
        with call_before("INSERT INTO board_case", gone) as other:
            outcome = run_deed(judge)
        other.result()
        assert outcome.changed == POSTS
    else:
        deed = partial(run_deed, judge)
        with call_before("DELETE FROM board_post ", deed) as other:
            delete_account(author)
        assert other.result().changed == 0
    assert not Post.objects.exists()
    assert not ModerationCase.objects.filter(author__isnull=False).exists()
    assert not InboxItem.objects.filter(member=author.pk).exists()


def test_rows_that_others_hold_are_left_and_told(
    posts: list[Post], judge: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "BATCH_SIZE", 6)

    def run() -> Outcome:
        with lock_timeout("200ms"):
            return run_deed(judge)

    with transaction.atomic():
        list(Post.objects.select_for_update().filter(pk=posts[0].pk))
        (outcome,) = run_concurrently([run])
    assert (outcome.changed, outcome.left) == (6, 6)
    assert run_deed(judge).changed == 6
    assert Comment.objects.count() == 0
