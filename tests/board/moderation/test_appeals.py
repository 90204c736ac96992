"""Appeals, blind content and its end (spec 5.10, 5.11)."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import InboxItem, Member
from board.models import Decision, ModerationCase, Post, TargetType
from board.moderation.decisions import Judgement, judge_content
from board.moderation.expiry import finish_moderation
from tests.support.board import find_counter_drift
from tests.support.cases import make_blind, make_case, report_by
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

DAY = timedelta(days=1)
TEXT = {"text": "It was a joke."}


def hide(client: JSONClient, post: Post, action: str = "HIDE") -> ModerationCase:
    case = make_case(post)
    resolve(client, case, action)
    return case


def resolve(client: JSONClient, case: ModerationCase, action: str) -> Any:
    body = {"action": action, "reason": "SPAM"}
    return client.send("POST", f"/api/moderation/cases/{case.pk}/resolve", body)


def item_of(author: Member) -> int:
    items = InboxItem.objects.filter(member=author, kind="CONTENT_HIDDEN")
    return items.latest("id").pk


def appeal(author: Member, **body: Any) -> Any:
    path = f"/api/inbox/{item_of(author)}/appeal"
    return JSONClient(author).send("POST", path, TEXT | body)


def test_appeal_opens_the_case_for_another_moderator_who_decides_for_good(
    moderator: JSONClient, author: Member
) -> None:
    second = JSONClient(make_member(role="MODERATOR"))
    post = make_post(author)
    case = hide(moderator, post)
    assert appeal(author).status_code == 204
    (waiting,) = moderator.get_json("/api/moderation/cases")["results"]
    assert (waiting["id"], waiting["appealed"]) == (case.pk, True)
    detail = second.get_json(f"/api/moderation/cases/{case.pk}")
    assert detail["decisions"][0]["appeal"] == TEXT["text"]
    assert_problem(resolve(moderator, case, "HIDE"), 403, "FORBIDDEN")
    assert resolve(second, case, "DISMISS").status_code == 200
    post.refresh_from_db()
    assert not post.is_hidden
    assert Decision.objects.latest("id").is_final
    assert_problem(appeal(author), 409, "ALREADY_RESOLVED")


def test_final_decision_cannot_be_appealed(
    moderator: JSONClient, author: Member
) -> None:
    case = hide(moderator, make_post(author))
    appeal(author)
    second = JSONClient(make_member(role="MODERATOR"))
    assert resolve(second, case, "DELETE").status_code == 200
    assert_problem(appeal(author), 409, "ALREADY_RESOLVED")
    found = JSONClient(author).get_json(f"/api/inbox/{item_of(author)}/case")
    assert (found["action"], found["appealUntil"]) == ("DELETE", None)


def test_only_moderator_decides_an_appeal_too(
    moderator: JSONClient, author: Member
) -> None:
    case = hide(moderator, make_post(author))
    appeal(author)
    assert resolve(moderator, case, "DISMISS").status_code == 200


def test_second_appeal_is_refused(moderator: JSONClient, author: Member) -> None:
    hide(moderator, make_post(author))
    assert appeal(author).status_code == 204
    assert_problem(appeal(author), 409, "ALREADY_RESOLVED")


def test_appeal_after_thirty_days_is_refused(
    moderator: JSONClient, author: Member
) -> None:
    hide(moderator, make_post(author))
    with time_machine.travel(timezone.now() + 30 * DAY + timedelta(minutes=1)):
        assert_problem(appeal(author), 409, "ALREADY_RESOLVED")
    with time_machine.travel(timezone.now() + 30 * DAY - timedelta(minutes=1)):
        assert appeal(author).status_code == 204


@pytest.mark.parametrize("body", [{"text": ""}, {"text": "x" * 1_001}, {"text": 1}])
def test_wrong_appeal_is_refused(
    moderator: JSONClient, author: Member, body: Any
) -> None:
    hide(moderator, make_post(author))
    assert_invalid(appeal(author, **body), "text")


def test_items_of_others_and_without_a_decision_take_no_appeal(
    moderator: JSONClient, author: Member, client: JSONClient, free_member: Member
) -> None:
    case = hide(moderator, make_post(author))
    theirs = item_of(author)
    reporter = case.reports.get().member
    resolved = InboxItem.objects.get(member=reporter)
    comment = InboxItem.objects.create(member=free_member, kind="COMMENT")
    for phone, number in (
        (client, theirs),
        (JSONClient(reporter), resolved.pk),
        (client, comment.pk),
        (client, 2**62),
        (client, 2**70),
    ):
        for method, name in (("POST", "appeal"), ("GET", "case")):
            path = f"/api/inbox/{number}/{name}"
            body = TEXT if method == "POST" else None
            assert_problem(phone.send(method, path, body), 404, "NOT_FOUND")


def test_what_reports_have_hidden_can_be_objected_to_before_staff_decide(
    moderator: JSONClient, author: Member
) -> None:
    post, now = make_post(author), timezone.now()
    report_by(5, post, now, created_at=now - 8 * DAY)
    assert appeal(author).status_code == 204
    case = ModerationCase.objects.get()
    assert case.status == "OPEN"
    assert_problem(appeal(author), 409, "ALREADY_RESOLVED")
    # What staff decide then is final.
    assert resolve(moderator, case, "HIDE").status_code == 200
    assert_problem(appeal(author), 409, "ALREADY_RESOLVED")


def test_first_moderator_decides_an_appeal_by_no_other_way(
    moderator: JSONClient, author: Member
) -> None:
    make_member(role="MODERATOR")
    post = make_post(author)
    case = hide(moderator, post)
    appeal(author)
    for name, body in (("hide", {"reason": "SPAM"}), ("show", None)):
        path = f"/api/moderation/posts/{post.pk}/{name}"
        assert_problem(moderator.send("POST", path, body), 403, "FORBIDDEN")
    case.refresh_from_db()
    assert case.status == "OPEN"


def test_later_decision_about_the_same_stands(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author)
    hide(moderator, post)
    first = item_of(author)
    moderator.send("POST", f"/api/moderation/posts/{post.pk}/show")
    hide(moderator, post, "DELETE")
    answer = JSONClient(author).send("POST", f"/api/inbox/{first}/appeal", TEXT)
    assert_problem(answer, 409, "ALREADY_RESOLVED")


def test_nothing_is_removed_while_an_appeal_waits(
    moderator: JSONClient, author: Member
) -> None:
    post, now = make_post(author), timezone.now()
    case = hide(moderator, post, "DELETE")
    with time_machine.travel(now + 29 * DAY):
        assert appeal(author).status_code == 204
    assert finish_moderation(now + 31 * DAY) == 0
    second = JSONClient(make_member(role="MODERATOR"))
    assert resolve(second, case, "DISMISS").status_code == 200
    assert Post.objects.get().hidden_reason is None


def test_report_bars_no_appeal(
    moderator: JSONClient, author: Member, client: JSONClient
) -> None:
    case = make_case(author)
    body = {"action": "SILENCE", "reason": "SPAM", "silenceDays": 3}
    moderator.send("POST", f"/api/moderation/cases/{case.pk}/resolve", body)
    path = f"/api/members/{author.pk}/report"
    assert client.send("POST", path, {"reason": "SPAM"}).status_code == 202
    item = InboxItem.objects.get(member=author, kind="SILENCED")
    answer = JSONClient(author).send("POST", f"/api/inbox/{item.pk}/appeal", TEXT)
    assert answer.status_code == 204
    opened = ModerationCase.objects.get()
    assert (opened.status, opened.report_count) == ("OPEN", 2)


def test_silenced_member_appeals(moderator: JSONClient, author: Member) -> None:
    body = {"until": f"{timezone.now() + 3 * DAY:%Y-%m-%dT%H:%M:%SZ}", "reason": "x"}
    path = f"/api/moderation/members/{author.pk}/silence"
    assert moderator.send("PUT", path, body).status_code == 200
    item = InboxItem.objects.get(member=author, kind="SILENCED")
    client = JSONClient(author)
    answer = client.send("POST", f"/api/inbox/{item.pk}/appeal", TEXT)
    assert answer.status_code == 204
    second = JSONClient(make_member(role="ADMIN"))
    case = ModerationCase.objects.get(status="OPEN")
    assert resolve(second, case, "DISMISS").status_code == 200
    author.refresh_from_db()
    assert author.silenced_until is None


def test_blind_content_without_an_objection_is_deleted(
    judge: Member, author: Member, settings: Any
) -> None:
    settings.BLIND_DAYS = 7
    now = timezone.now()
    post = make_post(author, title="Buy")
    case = make_blind(judge, post, now)
    assert case.blind_until == now + 7 * DAY
    texts = JSONClient(author).get_json("/api/inbox")["results"]
    assert f"until {timezone.localdate(now + 7 * DAY)}" in texts[0]["text"]
    assert finish_moderation(now + 6 * DAY) == 0
    assert finish_moderation(now + 7 * DAY) == 1
    assert not Post.objects.exists()
    case.refresh_from_db()
    assert case.target_gone == "STAFF"
    assert not ModerationCase.objects.filter(blind_until__isnull=False).exists()
    last = Decision.objects.latest("id")
    assert (last.action, last.actor, last.is_final) == ("DELETE", None, True)
    assert finish_moderation(now + 8 * DAY) == 0


def test_blind_content_with_an_objection_is_shown_again(
    judge: Member, author: Member
) -> None:
    now = timezone.now()
    post = make_post(author)
    make_comment(make_member(), post=post)
    case = make_blind(judge, post, now)
    assert appeal(author).status_code == 204
    post.refresh_from_db()
    assert post.hidden_reason == "BLIND"
    assert finish_moderation(now + 30 * DAY) == 1
    post.refresh_from_db()
    assert not post.is_hidden
    case.refresh_from_db()
    assert (case.status, case.blind_until) == ("RESOLVED", None)
    assert find_counter_drift() == []


def texts_of(author: Member) -> list[str]:
    items = JSONClient(author).get_json("/api/inbox")["results"]
    return [item["text"] for item in items]


@pytest.mark.parametrize("is_final", [True, False])
def test_blind_content_says_what_happens_at_the_end_after_an_objection(
    judge: Member, moderator: JSONClient, author: Member, is_final: bool
) -> None:
    now = timezone.now()
    post = make_post(author, title="Buy")
    if is_final:
        case = hide(moderator, post)
        appeal(author)
        second = JSONClient(make_member(role="MODERATOR"))
        assert resolve(second, case, "BLIND").status_code == 200
    else:
        make_blind(judge, post, now)
        assert "Without an objection it is deleted then." in texts_of(author)[0]
        appeal(author)
    told = texts_of(author)[0]
    assert "You have objected: it is shown again then." in told
    assert "Without an objection" not in told
    assert "You can object" not in told
    assert finish_moderation(now + 31 * DAY) == 1
    assert not Post.objects.get().is_hidden
    assert texts_of(author)[0] == "What you wrote can be seen by all again: Buy."


def test_blind_content_that_somebody_decided_about_has_no_end_to_tell(
    judge: Member, moderator: JSONClient, author: Member
) -> None:
    post = make_post(author, title="Buy")
    make_blind(judge, post, timezone.now())
    moderator.send("POST", f"/api/moderation/posts/{post.pk}/show")
    blind = texts_of(author)[-1]
    assert blind.startswith("What you wrote was hidden for a time, because")
    assert "object" not in blind


def test_comment_that_went_with_its_post_is_not_told_at_the_end_of_its_days(
    judge: Member, author: Member
) -> None:
    now, comment = timezone.now(), make_comment(author)
    judgement = Judgement("BLIND", "PERSONAL_DATA")
    judge_content(judge, TargetType.COMMENT, comment.pk, judgement, now)
    path = f"/api/board/posts/{comment.post_id}"
    assert JSONClient(comment.post.member).send("DELETE", path).status_code == 204
    before = InboxItem.objects.filter(member=author).values_list("id", "count")
    told = list(before)
    assert finish_moderation(now + 31 * DAY) == 1
    assert list(before.all()) == told


def test_another_decision_ends_the_days_of_blind_content(
    judge: Member, moderator: JSONClient, author: Member
) -> None:
    now = timezone.now()
    post = make_post(author)
    case = make_blind(judge, post, now)
    path = f"/api/moderation/posts/{post.pk}/show"
    assert moderator.send("POST", path).status_code == 204
    assert finish_moderation(now + 31 * DAY) == 0
    assert Post.objects.get().hidden_reason is None
    case.refresh_from_db()
    assert case.blind_until is None
