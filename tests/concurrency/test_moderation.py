"""Reports, decisions, appeals, silence and replies at once (spec 5.10 to 5.12)."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.account_deletion import delete_account
from accounts.models import InboxItem, Member
from board.models import Comment, Decision, ModerationCase, Post, Report
from board.moderation.silencing import set_silence
from tests.support.board import find_counter_drift
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.races import (
    Turn,
    call_before,
    caller,
    race,
    run_concurrently,
    sorted_statuses,
    without_locks,
)

pytestmark = pytest.mark.django_db(transaction=True)

B = "/api/board"
SPAM = {"reason": "SPAM"}
DISMISS, HIDE = {"action": "DISMISS"}, {"action": "HIDE", "reason": "SPAM"}


@pytest.fixture
def author() -> Member:
    return make_member(login_id="author")


@pytest.fixture
def post(author: Member) -> Post:
    return make_post(author, title="Buy", content="<p>old</p>")


def report_path(post: Post) -> str:
    return f"{B}/posts/{post.pk}/report"


def resolve_path(case: ModerationCase) -> str:
    return f"/api/moderation/cases/{case.pk}/resolve"


def make_moderator() -> JSONClient:
    return JSONClient(make_member(role="MODERATOR"))


def make_reporters(count: int) -> list[JSONClient]:
    joined = timezone.now() - timedelta(days=8)
    return [JSONClient(make_member(created_at=joined)) for _ in range(count)]


def test_twenty_reports_at_once_are_one_case(post: Post) -> None:
    calls = [
        caller(phone, "POST", report_path(post), SPAM) for phone in make_reporters(20)
    ]
    assert set(sorted_statuses(run_concurrently(calls))) == {202}
    case = ModerationCase.objects.get()
    assert (case.report_count, Report.objects.count()) == (20, 20)
    post.refresh_from_db()
    assert post.hidden_reason == "REPORTS"
    # Hidden by the fifth, it is not hidden again.
    assert Decision.objects.count() == 1
    assert InboxItem.objects.get().count == 1


def test_reports_at_once_are_counted_both(post: Post) -> None:
    first, second = make_reporters(2)
    later = caller(second, "POST", report_path(post), SPAM)
    make_case(post)
    with without_locks(), call_before('INSERT INTO "board_report"', later) as other:
        first.send("POST", report_path(post), SPAM)
    assert other.result().status_code == 202
    assert ModerationCase.objects.get().report_count == 2, "one of three is lost"
    ModerationCase.objects.update(report_count=1)
    Report.objects.filter(member__in=[first.member, second.member]).delete()
    with call_before('INSERT INTO "board_report"', later) as other:
        first.send("POST", report_path(post), SPAM)
    assert other.result().status_code == 202
    assert ModerationCase.objects.get().report_count == 3


def test_text_that_is_edited_during_a_decision_is_not_decided_unread(
    post: Post, author: Member
) -> None:
    writer, judge = JSONClient(author), make_moderator()
    case = make_case(post)
    path = f"/api/moderation/cases/{case.pk}"
    edit = caller(writer, "PATCH", f"{B}/posts/{post.pk}", {"content": "<p>new</p>"})
    read = {"targetUpdatedAt": judge.get_json(path)["target"]["updatedAt"]}
    with (
        without_locks(),
        call_before('INSERT INTO "board_decision"', edit) as other,
    ):
        answer = judge.send("POST", resolve_path(case), DISMISS | read)
    assert (answer.status_code, other.result().status_code) == (200, 200)
    assert Post.objects.get().content == "<p>new</p>", "an unread text was dismissed"

    def turn(number: int) -> Turn:
        other = make_post(author, content="<p>old</p>")
        case = make_case(other)
        detail = judge.get_json(f"/api/moderation/cases/{case.pk}")
        body = HIDE | {"targetUpdatedAt": detail["target"]["updatedAt"]}
        path, change = f"{B}/posts/{other.pk}", {"content": "<p>new</p>"}
        yield [
            caller(judge, "POST", resolve_path(case), body),
            caller(writer, "PATCH", path, change),
        ]
        other.refresh_from_db()
        assert other.is_hidden is (other.content == "<p>old</p>")

    # A hidden post is not edited, an edited one not hidden.
    race(turn, rounds=10, allowed=[(200, 404), (412, 200)])


def test_of_two_decisions_at_once_one_counts(post: Post) -> None:
    first, second = make_moderator(), make_moderator()
    case = make_case(post)
    later = caller(second, "POST", resolve_path(case), DISMISS)
    with without_locks(), call_before('INSERT INTO "board_decision"', later) as other:
        answers = [first.send("POST", resolve_path(case), HIDE), other]
    assert answers[0].status_code == other.result().status_code == 200
    assert Decision.objects.count() == 2, "both decide"
    Decision.objects.all().delete()
    ModerationCase.objects.update(status="OPEN")
    with call_before('INSERT INTO "board_decision"', later) as other:
        answer = first.send("POST", resolve_path(case), HIDE)
    assert answer.status_code == 200
    refused = other.result()
    assert (refused.status_code, refused.data["code"]) == (409, "ALREADY_RESOLVED")
    assert refused.data["decision"]["action"] == "HIDE"
    assert Decision.objects.get().action == "HIDE"


def test_report_beside_the_deletion_by_the_author(author: Member, post: Post) -> None:
    (reporter,) = make_reporters(1)
    deletion = caller(JSONClient(author), "DELETE", f"{B}/posts/{post.pk}")
    with call_before('INSERT INTO "board_case"', deletion) as other:
        assert reporter.send("POST", report_path(post), SPAM).status_code == 202
    assert other.result().status_code == 204
    case = ModerationCase.objects.get()
    assert (case.title, case.target_gone, case.report_count) == ("Buy", "AUTHOR", 1)
    # The other way round there is nothing to report any more.
    later = make_post(author)
    report = caller(reporter, "POST", report_path(later), SPAM)
    with call_before('DELETE FROM "board_post"', report) as other:
        JSONClient(author).send("DELETE", f"{B}/posts/{later.pk}")
    assert other.result().status_code == 404
    assert ModerationCase.objects.count() == 1


def test_decision_beside_an_edit(author: Member, post: Post) -> None:
    case = make_case(post)
    edit = caller(JSONClient(author), "PATCH", f"{B}/posts/{post.pk}", {"title": "New"})
    with call_before('INSERT INTO "board_decision"', edit) as other:
        assert make_moderator().send("POST", resolve_path(case), HIDE)
    assert other.result().status_code == 404
    post.refresh_from_db()
    assert (post.title, post.hidden_reason) == ("Buy", "STAFF")


@pytest.mark.parametrize("is_first", [True, False])
def test_decision_beside_the_deletion_of_the_account(
    author: Member, post: Post, is_first: bool
) -> None:
    case = make_case(post)
    moderator = make_moderator()
    body = HIDE | {"silenceDays": 3}
    if is_first:
        with call_before(
            'INSERT INTO "board_decision"', lambda: delete_account(author)
        ) as gone:
            answer = moderator.send("POST", resolve_path(case), body)
        gone.result()
    else:
        decision = caller(moderator, "POST", resolve_path(case), body)
        with call_before("DELETE FROM board_post ", decision) as other:
            delete_account(author)
        answer = other.result()
    assert answer.status_code == 200, answer.content
    case.refresh_from_db()
    assert (case.author_id, case.content, case.target_gone) == (None, "", "AUTHOR")
    assert not InboxItem.objects.filter(member=author.pk).exists()
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("is_dismissal_first", [True, False])
def test_fifth_report_beside_a_dismissal(post: Post, is_dismissal_first: bool) -> None:
    *four, fifth = make_reporters(5)
    for phone in four:
        phone.send("POST", report_path(post), SPAM)
    case = ModerationCase.objects.get()
    moderator = make_moderator()
    if is_dismissal_first:
        last = caller(fifth, "POST", report_path(post), SPAM)
        with call_before('INSERT INTO "board_decision"', last) as other:
            answer = moderator.send("POST", resolve_path(case), DISMISS)
        assert other.result().status_code == 202
        # It waits for four more.
        assert ModerationCase.objects.get(status="WAITING").report_count == 1
    else:
        dismissal = caller(moderator, "POST", resolve_path(case), DISMISS)
        with call_before('INSERT INTO "board_report"', dismissal) as other:
            fifth.send("POST", report_path(post), SPAM)
        answer = other.result()
    assert answer.status_code == 200
    post.refresh_from_db()
    assert not post.is_hidden
    assert find_counter_drift() == []


def test_appeal_twice_at_once(author: Member, post: Post) -> None:
    case = make_case(post)
    make_moderator().send("POST", resolve_path(case), HIDE)
    item = InboxItem.objects.get(member=author)
    path, body = f"/api/inbox/{item.pk}/appeal", {"text": "No"}
    phones = [JSONClient(author) for _ in range(2)]
    later = caller(phones[1], "POST", path, {"text": "Never"})
    with without_locks(), call_before('UPDATE "board_decision"', later) as two:
        assert phones[0].send("POST", path, body).status_code == 204
    assert two.result().status_code == 204, "both are taken"
    Decision.objects.update(appeal=None, appealed_at=None)
    ModerationCase.objects.update(status="RESOLVED")
    with call_before('UPDATE "board_decision"', later) as two:
        assert phones[0].send("POST", path, body).status_code == 204
    assert two.result().status_code == 409
    assert Decision.objects.get().appeal == "No"


def test_silence_waits_for_a_post_that_is_being_written(author: Member) -> None:
    judge = make_member(role="MODERATOR")
    phone = JSONClient(author)
    body = {"title": "Rice", "content": "<p>x</p>", "category": "tips"}
    until = timezone.now() + timedelta(days=1)
    times = {}

    def silence() -> None:
        set_silence(judge, author.pk, until, "Quarrel", timezone.now())
        times["silenced"] = Post.objects.count()

    with without_locks(), call_before('INSERT INTO "board_post"', silence) as other:
        assert phone.send("POST", f"{B}/posts", body).status_code == 201
    other.result()
    assert times["silenced"] == 0, "written by a silenced member"
    Member.objects.update(silenced_until=None)
    Post.objects.all().delete()
    with call_before('INSERT INTO "board_post"', silence) as other:
        assert phone.send("POST", f"{B}/posts", body).status_code == 201
    other.result()
    assert times["silenced"] == 1
    assert phone.send("POST", f"{B}/posts", body).status_code == 403


def test_sixty_four_replies_at_once_are_one_unread_item(
    author: Member, post: Post
) -> None:
    root = make_comment(author, post=post)
    path = f"{B}/posts/{post.pk}/comments"
    body = {"content": "words", "parentId": root.pk}
    phones = [JSONClient(make_member()) for _ in range(64)]
    for first in range(0, 64, 16):
        calls = [caller(p, "POST", path, body) for p in phones[first : first + 16]]
        assert set(sorted_statuses(run_concurrently(calls))) == {201}
    item = InboxItem.objects.get(member=author)
    assert (item.kind, item.count) == ("REPLY", 64)
    assert JSONClient(author).get_json("/api/inbox/count") == {"unread": 1}
    assert find_counter_drift() == []


def test_last_two_replies_are_deleted_at_once(author: Member, post: Post) -> None:
    root = make_comment(author, post=post)
    replies = [make_comment(make_member(), post=post, parent=root) for _ in range(2)]
    JSONClient(author).send("DELETE", f"{B}/comments/{root.pk}")
    calls = [
        caller(JSONClient(reply.member), "DELETE", f"{B}/comments/{reply.pk}")
        for reply in replies
    ]
    assert sorted_statuses(run_concurrently(calls)) == [204, 204]
    assert not Comment.objects.exists()


def test_reply_beside_the_deletion_of_what_it_answers(
    author: Member, post: Post
) -> None:
    root = make_comment(author, post=post)
    deletion = caller(JSONClient(author), "DELETE", f"{B}/comments/{root.pk}")
    path = f"{B}/posts/{post.pk}/comments"
    body = {"content": "words", "parentId": root.pk}
    with call_before('INSERT INTO "board_comment"', deletion) as other:
        answer = JSONClient(make_member()).send("POST", path, body)
    assert (answer.status_code, other.result().status_code) == (201, 204)
    root.refresh_from_db()
    assert (root.member_id, root.hidden_reason) == (None, "AUTHOR")
    assert find_counter_drift() == []


def test_moderators_who_judge_each_other_do_not_lock_each_other() -> None:
    members = [make_member(role="ADMIN") for _ in range(2)]
    phones = [JSONClient(member) for member in members]
    for _ in range(5):
        cases = [make_case(make_post(member)) for member in members]
        calls = [
            caller(phones[0], "POST", resolve_path(cases[1]), HIDE),
            caller(phones[1], "POST", resolve_path(cases[0]), HIDE),
        ]
        assert sorted_statuses(run_concurrently(calls)) == [200, 200]
