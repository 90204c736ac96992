"""The queue, decisions and their effect (spec 5.10, 5.11)."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditLogEntry, InboxItem, Member
from board.models import Comment, Decision, ModerationCase, Post, PostCount, Report
from board.moderation.expiry import finish_moderation
from tests.support.board import find_counter_drift
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

B = "/api/board"
CASES = "/api/moderation/cases"
HIDE = {"action": "HIDE", "reason": "SPAM"}


def resolve(client: JSONClient, case: ModerationCase, **body: Any) -> Any:
    return client.send("POST", f"{CASES}/{case.pk}/resolve", HIDE | body)


def told(member: Member) -> list[str]:
    items = InboxItem.objects.filter(member=member).order_by("id")
    return list(items.values_list("kind", flat=True))


def texts(member: Member) -> list[str]:
    page = JSONClient(member).get_json("/api/inbox")
    return [item["text"] for item in page["results"]]


def test_queue_lists_open_cases_oldest_first_with_filters(
    moderator: JSONClient, author: Member
) -> None:
    first = make_case(make_post(author, title="Buy"), reason="ABUSE")
    second = make_case(make_comment(author))
    third = make_case(author, kind="NOTICE")
    decided = make_case(make_post(author), status="RESOLVED")
    make_case(make_post(author), status="WAITING")
    page = moderator.get_json(CASES)
    assert [case["id"] for case in page["results"]] == [first.pk, second.pk, third.pk]
    assert page["count"] == 3
    assert page["results"][0]["title"] == "Buy"
    assert page["results"][0]["author"]["displayName"] == "Author"
    for query, expected in (
        ({"reason": "ABUSE"}, [first]),
        ({"kind": "NOTICE"}, [third]),
        ({"status": "RESOLVED"}, [decided]),
        ({"reason": "ABUSE", "kind": "NOTICE"}, []),
        ({"size": 1, "page": 2}, [second]),
    ):
        results = moderator.get_json(CASES, **query)["results"]
        assert [case["id"] for case in results] == [case.pk for case in expected]
    for name in ("status", "kind", "reason"):
        assert_invalid(moderator.send("GET", f"{CASES}?{name}=x"), name)


def test_case_has_all_that_is_needed_to_decide(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author, title="Buy", content="<p>old</p>")
    earlier = make_case(make_post(author), status="RESOLVED")
    Decision.objects.create(case=earlier, action="HIDE", reason="SPAM")
    case = make_case(post)
    post.content = "<p>new</p>"
    post.save()
    found = moderator.get_json(f"{CASES}/{case.pk}")
    assert found["content"] == "<p>old</p>"
    assert found["target"] == {
        "state": "SHOWN",
        "title": "Buy",
        "content": "<p>new</p>",
        "updatedAt": post.updated_at.isoformat(),
    }
    (report,) = found["reports"]
    assert report["reporter"]["id"] == Report.objects.get(case=case).member_id
    assert [(c["id"], c["action"]) for c in found["earlierCases"]] == [
        (earlier.pk, "HIDE")
    ]
    assert_problem(moderator.send("GET", f"{CASES}/{2**62}"), 404, "NOT_FOUND")
    assert_problem(moderator.send("GET", f"{CASES}/{2**70}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("is_comment", [False, True])
@pytest.mark.parametrize(
    ("action", "reason"),
    [("HIDE", "STAFF"), ("BLIND", "BLIND"), ("DELETE", "STAFF"), ("DISMISS", None)],
)
def test_decision_has_its_effect_and_everybody_is_told(
    moderator: JSONClient,
    judge: Member,
    author: Member,
    is_comment: bool,
    action: str,
    reason: str | None,
) -> None:
    target: Any = make_comment(author) if is_comment else make_post(author)
    case = make_case(target)
    reporter = Report.objects.get().member
    answer = resolve(moderator, case, action=action, note="seen")
    assert answer.status_code == 200, answer.content
    assert answer.data["status"] == "RESOLVED"
    (decision,) = answer.data["decisions"]
    assert (decision["action"], decision["note"]) == (action, "seen")
    assert decision["decidedById"] == judge.pk
    target.refresh_from_db()
    assert (target.is_hidden, target.hidden_reason) == (reason is not None, reason)
    assert (target.remove_after is not None) is (action == "DELETE")
    path = f"{B}/{'comments' if is_comment else 'posts'}/{target.pk}"
    post_path = f"{B}/posts/{target.post_id if is_comment else target.pk}"
    status = JSONClient(author).send("GET", post_path).status_code
    assert status == (200 if is_comment or reason is None else 404), path
    assert told(reporter) == ["REPORT_RESOLVED"]
    assert told(author) == ([] if reason is None else ["CONTENT_HIDDEN"])
    outcome = "DISMISSED" if action == "DISMISS" else "UPHELD"
    assert Report.objects.get().outcome == outcome
    entry = AuditLogEntry.objects.get()
    assert entry.text.endswith(f" Case {case.pk}.")
    assert (entry.target_id, entry.actor_id) == (str(target.pk), judge.pk)
    assert find_counter_drift() == []


def test_author_reads_what_was_done_why_and_how_to_object(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author, title="Buy")
    reporter_name = Report.objects.get(case=make_case(post)).member.display_name
    resolve(moderator, ModerationCase.objects.get(), note="internal")
    (text,) = texts(author)
    until = timezone.localdate() + timedelta(days=30)
    assert text == (
        "What you wrote was hidden: Buy. Reason: spam. You can object once, until "
        f"{until}; another moderator decides then."
    )
    item = InboxItem.objects.get(member=author)
    page = JSONClient(author).send("GET", f"/api/inbox/{item.pk}/case")
    for words in (reporter_name, "internal", "Judge"):
        assert words not in page.content.decode()
    assert page.data["content"] == post.content
    assert page.data["reason"] == "SPAM"


def test_reporter_learns_the_outcome_and_not_the_author_who_reported(
    moderator: JSONClient, author: Member
) -> None:
    case = make_case(make_post(author))
    reporter = Report.objects.get().member
    resolve(moderator, case)
    assert texts(reporter) == ["Thank you for your report. We have acted on it."]
    other = make_case(make_post(author))
    resolve(moderator, other, action="DISMISS")
    reporter = Report.objects.get(case=other).member
    assert texts(reporter) == [
        "Thank you for your report. We found nothing against the rules in it."
    ]


def test_second_decision_is_refused_with_the_first(
    moderator: JSONClient, administrator: Member, author: Member
) -> None:
    case = make_case(make_post(author))
    resolve(moderator, case)
    answer = resolve(JSONClient(administrator), case, action="DISMISS")
    assert_problem(answer, 409, "ALREADY_RESOLVED", "decision")
    assert answer.data["decision"]["action"] == "HIDE"
    assert Decision.objects.count() == 1


def test_decision_works_when_the_target_is_gone(
    moderator: JSONClient, author: Member
) -> None:
    post, comment = make_post(author, title="Buy"), make_comment(author)
    cases = [make_case(post), make_case(comment)]
    writer = JSONClient(author)
    writer.send("DELETE", f"{B}/posts/{post.pk}")
    writer.send("DELETE", f"{B}/comments/{comment.pk}")
    for case in cases:
        found = moderator.get_json(f"{CASES}/{case.pk}")
        assert (found["target"], found["targetGone"]) == (None, "AUTHOR")
        assert resolve(moderator, case, action="DELETE").status_code == 200
    assert told(author) == ["CONTENT_HIDDEN", "CONTENT_HIDDEN"]


def test_author_who_leaves_takes_the_copies_along(
    moderator: JSONClient, author: Member
) -> None:
    case = make_case(make_post(author, title="Buy", content="<p>Words</p>"))
    about_them = make_case(author)
    assert JSONClient(author).send("DELETE", "/api/auth/me").status_code == 204
    found = moderator.get_json(f"{CASES}/{case.pk}")
    assert (found["title"], found["content"], found["author"]) == ("", "", None)
    assert found["targetGone"] == "AUTHOR"
    assert not ModerationCase.objects.filter(pk=about_them.pk).exists()
    assert resolve(moderator, case).status_code == 200


def test_nobody_decides_about_oneself_nor_moderators_about_staff(
    moderator: JSONClient, judge: Member, administrator: Member
) -> None:
    own, theirs = make_case(make_post(judge)), make_case(make_post(administrator))
    for case in (own, theirs):
        assert_problem(resolve(moderator, case), 403, "FORBIDDEN")
    assert resolve(JSONClient(administrator), own).status_code == 200
    assert_problem(resolve(JSONClient(administrator), theirs), 403, "FORBIDDEN")
    assert Decision.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"action": "BURN"}, "action"),
        ({"action": None}, "action"),
        ({"reason": None}, "reason"),
        ({"reason": "x"}, "reason"),
        ({"note": "x" * 501}, "note"),
        ({"silenceDays": 0}, "silenceDays"),
        ({"silenceDays": 3_651}, "silenceDays"),
        ({"silenceDays": "7"}, "silenceDays"),
        ({"action": "SILENCE"}, "silenceDays"),
        ({"action": "DISMISS", "silenceDays": 1}, "silenceDays"),
    ],
)
def test_wrong_decision_is_refused_with_its_field(
    moderator: JSONClient, author: Member, body: Any, field: str
) -> None:
    case = make_case(make_post(author))
    assert_invalid(resolve(moderator, case, **body), field)
    assert not Decision.objects.exists()
    assert ModerationCase.objects.get().status == "OPEN"


@pytest.mark.parametrize("action", ["HIDE", "BLIND", "DELETE"])
def test_member_is_silenced_not_hidden(
    moderator: JSONClient, author: Member, action: str
) -> None:
    case = make_case(author)
    assert_invalid(resolve(moderator, case, action=action), "action")
    answer = resolve(moderator, case, action="SILENCE", silenceDays=3)
    assert answer.status_code == 200
    author.refresh_from_db()
    left = author.silenced_until - timezone.now()  # type: ignore[operator]
    assert timedelta(days=2, hours=23) < left <= timedelta(days=3)
    assert told(author) == ["SILENCED"]


def test_longer_silence_stays(moderator: JSONClient, author: Member) -> None:
    for days, hours_left in ((3, 71), (1, 71), (5, 119)):
        case = make_case(make_post(author))
        resolve(moderator, case, silenceDays=days)
        author.refresh_from_db()
        left = author.silenced_until - timezone.now()  # type: ignore[operator]
        assert left // timedelta(hours=1) == hours_left


def test_staff_hide_and_show_without_a_report(
    moderator: JSONClient, author: Member, judge: Member
) -> None:
    post, comment = make_post(author), make_comment(author)
    for name, target in (("posts", post), ("comments", comment)):
        path = f"/api/moderation/{name}/{target.pk}"
        for _ in range(2):
            answer = moderator.send("POST", f"{path}/hide", {"reason": "SPAM"})
            assert answer.status_code == 204
        rows = type(target).objects.filter(pk=target.pk)
        assert rows.get().hidden_reason == "STAFF"
        assert moderator.send("POST", f"{path}/show").status_code == 204
        assert rows.get().hidden_reason is None
        assert_invalid(moderator.send("POST", f"{path}/hide", {}), "reason")
    assert set(ModerationCase.objects.values_list("kind", "status")) == {
        ("STAFF", "RESOLVED")
    }
    # What is so already makes no case.
    assert Decision.objects.count() == 4
    own = make_post(judge)
    answer = moderator.send(
        "POST", f"/api/moderation/posts/{own.pk}/hide", {"reason": "SPAM"}
    )
    assert_problem(answer, 403, "FORBIDDEN")
    answer = moderator.send("POST", f"/api/moderation/posts/{2**62}/show")
    assert_problem(answer, 404, "NOT_FOUND")


def test_hiding_decides_the_open_case(moderator: JSONClient, author: Member) -> None:
    case = make_case(make_post(author))
    path = f"/api/moderation/posts/{case.target_id}/hide"
    assert moderator.send("POST", path, {"reason": "ABUSE"}).status_code == 204
    case.refresh_from_db()
    assert case.status == "RESOLVED"
    assert Report.objects.get().outcome == "UPHELD"


def test_administrator_deletes_and_staff_bring_it_back(
    administrator: Member, moderator: JSONClient, author: Member
) -> None:
    post = make_post(author, category="tips")
    comment = make_comment(author, post=make_post(make_member(), category="saving"))
    admin, writer = JSONClient(administrator), JSONClient(author)
    paths = (f"{B}/posts/{post.pk}", f"{B}/comments/{comment.pk}")
    for path in paths:
        assert admin.send("DELETE", path).status_code == 204
        assert_problem(admin.send("DELETE", path), 404, "NOT_FOUND")
    assert_problem(writer.send("GET", paths[0]), 404, "NOT_FOUND")
    item = InboxItem.objects.filter(member=author).earliest("id")
    kept = writer.get_json(f"/api/inbox/{item.pk}/case")
    assert (kept["action"], kept["content"]) == ("DELETE", post.content)
    assert PostCount.objects.get(category="tips").posts == 0
    assert finish_moderation(timezone.now() + timedelta(days=29)) == 0
    for name, row in (("posts", post), ("comments", comment)):
        path = f"/api/moderation/{name}/{row.pk}/show"
        assert moderator.send("POST", path).status_code == 204
    assert finish_moderation(timezone.now() + timedelta(days=31)) == 0
    assert writer.send("GET", paths[0]).status_code == 200
    assert find_counter_drift() == []


def test_what_staff_deleted_is_removed_after_its_days(
    administrator: Member, author: Member, settings: Any
) -> None:
    settings.BOARD_KEPT_DAYS = 3
    post, comment = make_post(author), make_comment(author)
    reply = make_comment(make_member(), post=comment.post, parent=comment)
    admin = JSONClient(administrator)
    admin.send("DELETE", f"{B}/posts/{post.pk}")
    admin.send("DELETE", f"{B}/comments/{comment.pk}")
    assert finish_moderation(timezone.now() + timedelta(days=3, minutes=1)) == 2
    assert not Post.objects.filter(pk=post.pk).exists()
    comment.refresh_from_db()
    assert (comment.content, comment.member_id) == ("", None)
    assert Comment.objects.filter(pk=reply.pk, is_hidden=False).exists()
    item = InboxItem.objects.filter(member=author).earliest("id")
    kept = JSONClient(author).get_json(f"/api/inbox/{item.pk}/case")
    assert (kept["title"], kept["content"]) == ("", "")
    assert find_counter_drift() == []


def test_without_days_deletion_is_at_once(
    administrator: Member, author: Member, settings: Any
) -> None:
    settings.BOARD_KEPT_DAYS = 0
    post = make_post(author)
    JSONClient(administrator).send("DELETE", f"{B}/posts/{post.pk}")
    assert not Post.objects.exists()
    case = ModerationCase.objects.get()
    assert (case.status, case.target_gone) == ("RESOLVED", "STAFF")
    assert told(author) == ["CONTENT_HIDDEN"]


def test_demoted_moderator_decides_nothing(
    moderator: JSONClient, judge: Member, author: Member
) -> None:
    case = make_case(make_post(author))
    Member.objects.filter(pk=judge.pk).update(role="MEMBER")
    assert_problem(resolve(moderator, case), 403, "MODERATOR_REQUIRED")


def test_moderator_does_not_learn_who_reported_them(
    moderator: JSONClient, judge: Member, admin: JSONClient
) -> None:
    case = make_case(make_post(judge))
    assert moderator.get_json(f"{CASES}/{case.pk}")["reports"] == []
    assert len(admin.get_json(f"{CASES}/{case.pk}")["reports"]) == 1


def test_what_is_hidden_is_not_settled_by_silence_alone(
    moderator: JSONClient, author: Member
) -> None:
    held = make_post(author, is_hidden=True, hidden_reason="HELD")
    case = make_case(held, kind="HELD")
    answer = resolve(moderator, case, action="SILENCE", silenceDays=1)
    assert_invalid(answer, "action")


def test_copies_go_with_the_author_unless_a_case_is_open(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author, title="Buy")
    case = make_case(post)
    resolve(moderator, case, action="DISMISS")
    JSONClient(author).send("DELETE", f"{B}/posts/{post.pk}")
    case.refresh_from_db()
    assert (case.title, case.content) == ("", "")


def test_figures_count_what_waits_and_what_was_done(
    admin: JSONClient, moderator: JSONClient, author: Member
) -> None:
    resolve(moderator, make_case(make_post(author)))
    waiting = make_case(make_post(author))
    held = make_post(author, is_hidden=True, hidden_reason="HELD")
    make_case(held, kind="HELD")
    figures = admin.get_json("/api/admin/moderation-figures")
    assert (figures["openCases"], figures["heldPosts"]) == (2, 1)
    oldest = ModerationCase.objects.get(pk=waiting.pk).opened_at
    assert figures["oldestOpenedAt"].startswith(f"{oldest:%Y-%m-%dT}")
    assert len(figures["days"]) == 30
    today = {"day": f"{timezone.localdate()}", "hidden": 1, "held": 1}
    assert figures["days"][-1] == today
