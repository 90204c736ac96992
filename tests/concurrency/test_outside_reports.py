"""Reports from outside at once with others (spec 5.13)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Member
from board.models import ModerationCase, OutsideReport, Post
from tests.support.clients import JSONClient
from tests.support.factories import make_member, make_post
from tests.support.mail import ReadMail
from tests.support.outside_reports import confirm, read_code_mail
from tests.support.races import call_before, caller, run_concurrently, sorted_statuses

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _mail(mail_folder: Path, settings: Any) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"


@pytest.fixture
def author() -> Member:
    return make_member(login_id="author")


@pytest.fixture
def post(author: Member) -> Post:
    return make_post(author, title="Buy")


def ask(post: Post, number: int) -> ReadMail:
    return read_code_mail(str(post.pk), email=f"kim{number}@example.org")


def test_eight_codes_and_eight_reports_at_once_make_one_case(post: Post) -> None:
    mails = [ask(post, number) for number in range(8)]
    path = f"/api/board/posts/{post.pk}/report"
    phones = [JSONClient(make_member()) for _ in range(8)]
    calls: list[Callable[[], Any]] = [partial(confirm, mail) for mail in mails]
    calls += [caller(phone, "POST", path, {"reason": "SPAM"}) for phone in phones]
    assert sorted_statuses(run_concurrently(calls)) == [200] * 8 + [202] * 8
    case = ModerationCase.objects.get()
    assert (case.kind, case.status, case.report_count) == ("NOTICE", "OPEN", 8)
    assert OutsideReport.objects.filter(case=case).count() == 8


def test_one_code_eight_times_at_once_counts_once(post: Post) -> None:
    mail = ask(post, 0)
    answers = run_concurrently([lambda: confirm(mail)] * 8)
    assert sorted_statuses(answers) == [200] * 8
    assert OutsideReport.objects.exclude(case=None).count() == 1


def test_wrong_codes_at_once_are_all_counted(post: Post) -> None:
    mail = ask(post, 0)
    guesses = [lambda: confirm(mail, code="BBBB-BBBB")] * 8
    assert sorted_statuses(run_concurrently(guesses)) == [400] * 8
    assert OutsideReport.objects.get().tries == 5
    assert confirm(mail).status_code == 400


def test_code_beside_the_deletion_by_the_author(author: Member, post: Post) -> None:
    mail = ask(post, 0)
    deletion = caller(JSONClient(author), "DELETE", f"/api/board/posts/{post.pk}")
    with call_before('INSERT INTO "board_case"', deletion) as other:
        assert confirm(mail).status_code == 200
    assert other.result().status_code == 204
    case = ModerationCase.objects.get()
    assert (case.title, case.target_gone) == ("Buy", "AUTHOR")
    # The other way round there is nothing to decide any more.
    later = make_post(author)
    mail = ask(later, 1)
    with call_before('DELETE FROM "board_post"', lambda: confirm(mail)) as other:
        JSONClient(author).send("DELETE", f"/api/board/posts/{later.pk}")
    assert "deleted meanwhile" in other.result().content.decode()
    assert OutsideReport.objects.count() == ModerationCase.objects.count() == 1


def test_code_beside_a_dismissal_opens_another_case(author: Member, post: Post) -> None:
    first, second = ask(post, 0), ask(post, 1)
    confirm(first)
    case = ModerationCase.objects.get()
    judge = JSONClient(make_member(role="MODERATOR"))
    path = f"/api/moderation/cases/{case.pk}/resolve"
    with call_before('INSERT INTO "board_decision"', lambda: confirm(second)) as other:
        answer = judge.send("POST", path, {"action": "DISMISS"})
    assert answer.status_code == other.result().status_code == 200
    statuses = ModerationCase.objects.order_by("id").values_list("status", flat=True)
    assert list(statuses) == ["RESOLVED", "OPEN"]
