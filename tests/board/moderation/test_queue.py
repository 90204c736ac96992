"""The list of cases and what was read before a decision (spec 5.10)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Member
from board.models import Decision, ModerationCase, Report
from board.moderation import listing
from tests.support.cases import make_case
from tests.support.clients import JSONClient
from tests.support.factories import make_comment, make_member, make_post
from tests.support.problems import assert_invalid, assert_problem

CASES = "/api/moderation/cases"
MANY = 50


def add_case(number: int) -> ModerationCase:
    """Make a case about a post, a comment or a member; some have an appeal."""
    author = make_member()
    targets = (make_post(author), make_comment(author), author)
    case = make_case(targets[number % 3])
    said = {"appeal": "why", "appealed_at": timezone.now()} if number % 2 else {}
    Decision.objects.create(case=case, action="HIDE", **said)
    return case


def board_statements(client: JSONClient, path: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        client.get_json(path)
    return [query["sql"] for query in captured if "board_" in query["sql"]]


def test_list_is_one_statement_for_1_case_and_for_50(moderator: JSONClient) -> None:
    add_case(0)
    assert len(board_statements(moderator, f"{CASES}?size=100")) == 1
    for number in range(1, MANY):
        add_case(number)
    assert len(board_statements(moderator, f"{CASES}?size=100")) == 1
    page = moderator.get_json(f"{CASES}?size=100")
    assert page["count"] == len(page["results"]) == MANY
    appealed = [case["appealed"] for case in page["results"]]
    assert appealed == [bool(number % 2) for number in range(MANY)]


def test_case_costs_the_same_statements_for_1_report_and_for_50(
    moderator: JSONClient, author: Member
) -> None:
    case = make_case(make_post(author))
    make_case(make_post(author), status="RESOLVED")
    few = board_statements(moderator, f"{CASES}/{case.pk}")
    for _ in range(1, MANY):
        Report.objects.create(case=case, member=make_member(), reason="SPAM")
        make_case(make_post(author), status="RESOLVED")
    many = board_statements(moderator, f"{CASES}/{case.pk}")
    assert len(few) == len(many) == 6


def test_list_says_whether_the_target_is_there(
    moderator: JSONClient, author: Member
) -> None:
    gone = timezone.now() + timedelta(days=1)
    post, comment = make_post(author), make_comment(author)
    removed = make_post(
        author, is_hidden=True, hidden_reason="STAFF", remove_after=gone
    )
    place = make_comment(author)
    person = make_member()
    for target in (post, comment, removed, place, person):
        make_case(target, target_gone="STAFF" if target == removed else None)
    type(place).objects.filter(pk=place.pk).update(
        member=None, content="", is_hidden=True, hidden_reason="AUTHOR"
    )
    results = moderator.get_json(CASES)["results"]
    found = [case["targetGone"] for case in results]
    assert found == [None, None, "STAFF", "AUTHOR", None]
    ModerationCase.objects.filter(target_id=person.pk).update(target_id=2**60)
    assert moderator.get_json(CASES)["results"][4]["targetGone"] == "AUTHOR"


def test_case_of_an_author_who_has_left_has_none(moderator: JSONClient) -> None:
    case = make_case(make_post(make_member()))
    for author in (None, 2**60):
        ModerationCase.objects.filter(pk=case.pk).update(author_id=author)
        (found,) = moderator.get_json(CASES)["results"]
        assert found["author"] is None


def test_pages_end_where_the_count_does(
    moderator: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [make_case(make_post(make_member())) for _ in range(4)]
    monkeypatch.setattr(listing, "MAX_COUNTED_CASES", 3)
    page = moderator.get_json(CASES, size=2, page=2)
    assert page["count"] == 3
    assert [case["id"] for case in page["results"]] == [cases[2].pk]
    assert page["next"] is None
    for number in (3, 9):
        answer = moderator.send("GET", f"{CASES}?size=2&page={number}")
        assert_problem(answer, 404, "NOT_FOUND")
    assert moderator.get_json(CASES, status="RESOLVED")["count"] == 0


@pytest.mark.parametrize("is_comment", [False, True])
def test_text_that_changed_while_it_was_read_is_not_decided(
    moderator: JSONClient, author: Member, is_comment: bool
) -> None:
    target: Any = make_comment(author) if is_comment else make_post(author)
    case = make_case(target)
    path = f"{CASES}/{case.pk}"
    read = moderator.get_json(path)["target"]["updatedAt"]
    type(target).objects.filter(pk=target.pk).update(
        content="new", updated_at=timezone.now() + timedelta(microseconds=1)
    )
    body = {"action": "HIDE", "reason": "SPAM"}
    answer = moderator.send("POST", f"{path}/resolve", body | {"targetUpdatedAt": read})
    assert_problem(answer, 412, "VERSION_CONFLICT", "current")
    assert answer.data["current"]["content"] == "new"
    assert not Decision.objects.exists()
    target.refresh_from_db()
    assert not target.is_hidden
    now = {"targetUpdatedAt": answer.data["current"]["updatedAt"]}
    answer = moderator.send("POST", f"{path}/resolve", body | now)
    assert answer.status_code == 200, answer.content
    # What has been decided stays so, whatever was read.
    answer = moderator.send("POST", f"{path}/resolve", body | {"targetUpdatedAt": read})
    assert_problem(answer, 409, "ALREADY_RESOLVED", "decision")


def test_text_that_is_gone_or_of_a_member_has_no_time(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author)
    case, person = make_case(post), make_case(author)
    read = moderator.get_json(f"{CASES}/{case.pk}")["target"]["updatedAt"]
    wrong = {"action": "DISMISS", "targetUpdatedAt": "yesterday"}
    answer = moderator.send("POST", f"{CASES}/{case.pk}/resolve", wrong)
    assert_invalid(answer, "targetUpdatedAt")
    post.delete()
    for each, time in ((case, read), (person, None)):
        body = {"action": "DISMISS", "targetUpdatedAt": time}
        answer = moderator.send("POST", f"{CASES}/{each.pk}/resolve", body)
        assert answer.status_code == 200, answer.content
