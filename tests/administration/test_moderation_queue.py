"""Staff work through the queue in Django admin (spec 5.10, 7.7)."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import AuditLogEntry, Member
from board.models import Decision, ModerationCase, OutsideReport, Report
from board.moderation.expiry import finish_moderation
from board.moderation.notes import HIDDEN_BEFORE, TELLS_OF_ALL
from tests.support.admin_site import get_page, logged_in_browser
from tests.support.cases import make_blind, make_case
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_comment, make_member, make_post

CASES = "/admin/board/moderationcase/"
NEXT = f"{CASES}next/"
HIDE = {"action": "HIDE", "reason": "SPAM"}
MANY = 50


def page_of(case: ModerationCase | int | str) -> str:
    return f"{CASES}{getattr(case, 'pk', case)}/change/"


def decide(browser: JSONClient, case: ModerationCase, **values: Any) -> Any:
    """Send the form of the page as it is, with these values."""
    shown = get_page(browser, page_of(case))
    seen = re.search(r'name="seen" value="([^"]*)"', shown)
    form = {"seen": seen[1] if seen else ""} | HIDE | values
    return browser.post(page_of(case), form)


def told(browser: JSONClient, answer: Any) -> str:
    """Return the page that the answer leads to."""
    assert answer.status_code == 302, answer.content.decode()[:2000]
    return get_page(browser, answer.headers["Location"])


def report_outside(case: ModerationCase, **values: Any) -> OutsideReport:
    now = timezone.now()
    return OutsideReport.objects.create(
        case=case,
        target_type=case.target_type,
        target_id=case.target_id,
        reason="DEFAMATION",
        language="en",
        code_hash=b"",
        expires_at=now,
        confirmed_at=now,
        **values,
    )


@pytest.fixture
def author() -> Member:
    return make_member(login_id="writer", display_name="김민지")


@pytest.fixture
def judge() -> Member:
    return make_member(role="MODERATOR", login_id="judge", password=PASSWORD)


@pytest.fixture
def moderator(judge: Member) -> JSONClient:
    return logged_in_browser(judge)


def test_list_is_the_queue_oldest_first(moderator: JSONClient, author: Member) -> None:
    first = make_case(make_post(author, title="Buy rice"), reason="ABUSE")
    second = make_case(make_comment(author, content="Cheap bread"), kind="NOTICE")
    decided = make_case(make_post(author, title="Old"), status="RESOLVED")
    waiting = make_case(make_post(author, title="Later"), status="WAITING")
    page = get_page(moderator, CASES)
    assert page.index("Buy rice") < page.index("Cheap bread")
    for case in (first, second):
        assert f'href="{page_of(case)}' in page
    for case in (decided, waiting):
        assert f'href="{page_of(case)}' not in page
    for query, expected in (
        ({"status": "RESOLVED"}, [decided]),
        ({"kind__exact": "NOTICE"}, [second]),
        ({"reason__exact": "ABUSE"}, [first]),
        ({"q": str(second.pk)}, [second]),
        ({"q": "@WRITER"}, [first, second]),
        ({"q": "@nobody"}, []),
        ({"q": "9" * 40}, []),
        ({"q": "rice"}, []),
    ):
        page = get_page(moderator, CASES, **query)
        found = {int(each) for each in re.findall(rf"{CASES}(\d+)/change/", page)}
        assert found == {case.pk for case in expected}, query


def test_page_has_all_that_is_needed_to_decide(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author, title="Buy rice", content="<p>old <b>text</b></p>")
    earlier = make_case(make_post(author), status="RESOLVED")
    Decision.objects.create(case=earlier, action="HIDE", reason="ABUSE")
    case = make_case(post, reason="ABUSE")
    Report.objects.filter(case=case).update(note="Look at this")
    comment = make_comment(make_member(display_name="이웃"), post=post, content="First")
    page = get_page(moderator, page_of(case))
    for text in ("Buy rice", "<p>old <b>text</b></p>", "Look at this", "writer"):
        assert text in page
    reporter = Report.objects.get(case=case).member
    assert reporter.display_name in page
    assert f'href="{page_of(earlier)}"' in page
    # Later ones are among them, too.
    assert "<h3>Other cases of the author</h3>" in page
    assert f'href="/admin/board/post/{post.pk}/change/"' in page
    assert comment.content in page
    assert re.search(r'value="ABUSE" data-key="2" checked', page)
    assert page.count("<kbd>H</kbd>") == 2
    # Pages of members are for administrators.
    assert "/admin/accounts/" not in page


def test_page_shows_a_changed_text_beside_the_reported_one(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author, title="Buy", content="<p>old</p>")
    case = make_case(post)
    assert "As it is now" not in get_page(moderator, page_of(case))
    post.content = "<p>new</p>"
    post.save()
    page = get_page(moderator, page_of(case))
    assert page.index("As it was reported") < page.index("<p>old</p>")
    assert page.index("As it is now, after a change") < page.index("<p>new</p>")
    post.delete()
    page = get_page(moderator, page_of(case))
    assert "<p>old</p>" in page
    assert "Deleted by its author" in page


def test_page_shows_the_comments_around_a_comment(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(make_member(), title="Bread")
    comments = [
        make_comment(make_member(), post=post, content=f"number{n}") for n in range(9)
    ]
    make_comment(make_member(), post=post, parent=comments[4], content="the reply")
    case = make_case(comments[4])
    page = get_page(moderator, page_of(case))
    assert "Bread" in page
    around = page.partition("Comments around it")[2]
    assert re.findall(r"number\d|the reply|Here stands", around) == [
        *("number1", "number2", "number3", "Here stands", "the reply"),
        *("number5", "number6"),
    ]
    comments[4].delete()
    assert "number3" in get_page(moderator, page_of(case)).partition("around it")[2]


def test_nothing_of_a_text_runs_or_loads(moderator: JSONClient, author: Member) -> None:
    image = "/api/images/0d3f6f0e-0f6b-4b43-8f3f-0123456789ab"
    content = (
        f'<p>hello</p><script>alert(1)</script><img src="{image}">'
        '<img src=x onerror=alert(1)><form action="/x"><input name="action"></form>'
    )
    case = make_case(make_post(author, title="<b>t</b>", content=content))
    page = get_page(moderator, page_of(case))
    text = page.partition('class="member-text"')[2].partition("</details>")[0]
    assert "[Image 1]" in text
    assert "&lt;b&gt;t&lt;/b&gt;" in text
    for wrong in ("<script", "onerror", "<form", "<input", "<b>t"):
        assert wrong not in text
    (shown,) = re.findall(r"<img [^>]*>", text)
    assert 'loading="lazy"' in shown
    assert f'src="{image}"' in shown


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"action": "HIDE", "reason": "SPAM"}, "Hidden."),
        ({"action": "BLIND", "reason": "SPAM"}, "Hidden for a time."),
        ({"action": "DELETE", "reason": "SPAM"}, "Deleted."),
        ({"action": "DISMISS", "reason": "SPAM"}, "Nothing wrong."),
        (
            {"action": "SILENCE", "reason": "SPAM", "silence_days": 3},
            "Author silenced.",
        ),
    ],
)
def test_decision_leads_to_the_next_case_and_says_what_was_done(
    moderator: JSONClient,
    judge: Member,
    author: Member,
    values: dict[str, Any],
    message: str,
) -> None:
    case = make_case(make_post(author))
    following = make_case(make_post(author))
    answer = decide(moderator, case, note="seen", **values)
    assert answer.headers["Location"] == page_of(following)
    assert f"Case {case.pk}: {message}" in told(moderator, answer)
    decision = Decision.objects.get()
    assert (decision.action, decision.actor_id) == (values["action"], judge.pk)
    assert (decision.note, decision.silence_days) == (
        "seen",
        values.get("silence_days"),
    )
    assert decision.reason == ("" if values["action"] == "DISMISS" else "SPAM")
    assert AuditLogEntry.objects.get().text.endswith(f" Case {case.pk}.")
    answer = decide(moderator, following)
    assert answer.headers["Location"] == CASES
    assert "The queue is empty." in told(moderator, answer)


def test_skipped_cases_come_again_after_the_last(
    moderator: JSONClient, author: Member
) -> None:
    first, second, third = (make_case(make_post(author)) for _ in range(3))
    for after, expected in (
        ("", first),
        (first.pk, second),
        (third.pk, first),
        ("x", first),
        (10**30, first),
    ):
        answer: Any = moderator.get(NEXT, {"after": after})
        assert (answer.status_code, answer.headers["Location"]) == (
            302,
            page_of(expected),
        )
    assert f'href="{NEXT}?after={first.pk}"' in get_page(moderator, page_of(first))
    answer = decide(moderator, third)
    assert answer.headers["Location"] == page_of(first)
    assert moderator.post(NEXT).status_code == 405
    ModerationCase.objects.exclude(pk=second.pk).update(status="RESOLVED")
    answer = moderator.get(NEXT, {"after": second.pk})
    assert "You can decide no other case." in told(moderator, answer)


def test_cases_for_others_are_passed_over(
    moderator: JSONClient, judge: Member, administrator: Member, author: Member
) -> None:
    own, staff = make_case(make_post(judge)), make_case(make_post(administrator))
    appealed, free = make_case(make_post(author)), make_case(make_post(author))
    now = timezone.now()
    Decision.objects.create(
        case=appealed, action="HIDE", actor=judge, appeal="No", appealed_at=now
    )
    answer: Any = moderator.get(NEXT)
    assert answer.headers["Location"] == page_of(free)
    for case, refusal in (
        (own, "You cannot decide about yourself or what you wrote."),
        (staff, "Only an administrator can decide about staff."),
        (appealed, "Another moderator has to decide this."),
    ):
        page = get_page(moderator, page_of(case))
        assert refusal in page
        assert 'name="action"' not in page
        answer = moderator.post(page_of(case), HIDE)
        assert answer.headers["Location"] == page_of(free)
        assert refusal in told(moderator, answer)
    assert Decision.objects.count() == 1
    browser = logged_in_browser(administrator)
    for after, expected in ((0, own), (own.pk, appealed)):
        answer = browser.get(NEXT, {"after": after})
        assert answer.headers["Location"] == page_of(expected)
    answer = moderator.get(NEXT, {"after": free.pk})
    assert "You can decide no other case." in told(moderator, answer)


def test_own_appeal_is_decided_by_the_only_one_there_is(
    browser: JSONClient, administrator: Member, author: Member
) -> None:
    case = make_case(make_post(author))
    Decision.objects.create(
        case=case,
        action="HIDE",
        actor=administrator,
        appeal="It was <b>fine</b>",
        appealed_at=timezone.now(),
    )
    page = get_page(browser, page_of(case))
    assert "It was &lt;b&gt;fine&lt;/b&gt;" in page.partition("The author objects")[2]
    assert decide(browser, case, action="DISMISS").status_code == 302
    assert Decision.objects.filter(case=case, is_final=True).exists()


def test_author_does_not_read_who_reported(judge: Member) -> None:
    case = make_case(make_post(judge))
    Report.objects.filter(case=case).update(note="rude")
    page = get_page(logged_in_browser(judge), page_of(case))
    assert Report.objects.get().member.display_name not in page
    assert "rude" not in page


def test_page_tells_the_service_from_a_moderator_who_has_left(
    browser: JSONClient, author: Member
) -> None:
    now, post = timezone.now(), make_post(author)
    case = make_blind(make_member(role="MODERATOR"), post, now)
    Decision.objects.update(actor=None)
    page = get_page(browser, page_of(case))
    assert page.count("A moderator who has left") == 1
    assert "The service" not in page
    finish_moderation(now + timedelta(days=31))
    page = get_page(browser, page_of(case))
    assert page.count("A moderator who has left") == 1
    assert page.count("The service") == 1
    reported = make_case(make_post(author))
    Decision.objects.create(case=reported, action="HIDE", is_automatic=True)
    assert "The service" in get_page(browser, page_of(reported))
    assert "has left" not in get_page(browser, page_of(reported))


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("It was hidden before.", "그전에도 숨겨져 있었어요."),
        (
            f"{HIDDEN_BEFORE} {TELLS_OF_ALL}",
            "그전에도 숨겨져 있었어요. 한꺼번에 처리한 것을 작성자에게 여기서 한 번에 알려요.",
        ),
        ("It was hidden before. Look at it.", "It was hidden before. Look at it."),
        ("읽었어요", "읽었어요"),
    ],
)
def test_notes_of_the_service_are_in_the_language_of_the_reader(
    administrator: Member, author: Member, note: str, shown: str
) -> None:
    case = make_case(make_post(author), status="RESOLVED")
    Decision.objects.create(case=case, action="HIDE", note=note)
    korean = {"Accept-Language": "ko"}
    browser = logged_in_browser(administrator)
    page: Any = browser.get(page_of(case), headers=korean)
    assert f'<p class="note">{shown}</p>' in page.content.decode()
    path = f"/api/moderation/cases/{case.pk}"
    found = JSONClient(administrator).get(path, headers=korean)
    assert found.json()["decisions"][0]["note"] == shown
    own = JSONClient(administrator).get_json(path)
    assert own["decisions"][0]["note"] == note


def test_second_of_two_decisions_is_told_the_first(
    moderator: JSONClient, administrator: Member, author: Member
) -> None:
    case, following = make_case(make_post(author)), make_case(make_post(author))
    assert 'name="action"' in get_page(moderator, page_of(case))
    other = logged_in_browser(administrator)
    decide(other, case, action="DELETE")
    answer: Any = moderator.post(page_of(case), HIDE)
    assert answer.headers["Location"] == page_of(following)
    page = told(moderator, answer)
    assert re.search(
        rf"Case {case.pk}: {administrator.login_id} has decided this already, "
        r"at \d{4}-\d\d-\d\d \d\d:\d\d: Deleted\.",
        page,
    )
    assert Decision.objects.count() == 1
    page = get_page(moderator, page_of(case))
    assert "This case has been decided." in page
    assert 'name="action"' not in page


@pytest.mark.parametrize("is_comment", [False, True])
def test_text_that_was_changed_meanwhile_is_read_again(
    moderator: JSONClient, author: Member, is_comment: bool
) -> None:
    target: Any = make_comment(author) if is_comment else make_post(author)
    case = make_case(target)
    seen = target.updated_at.isoformat()
    target.content, target.updated_at = "changed", timezone.now()
    target.save()
    form = HIDE | {"seen": seen, "note": "my note"}
    answer: Any = moderator.post(page_of(case), form)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "The text was changed while you were reading. Look again." in page
    assert "changed" in page
    assert "my note" in page
    assert re.search(r'value="HIDE" data-key="h">', page), "nothing is chosen again"
    assert not Decision.objects.exists()
    assert decide(moderator, case).status_code == 302


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"action": ""}, "Choose a decision."),
        ({"action": "BURN"}, "Select a valid choice."),
        ({"reason": ""}, "Choose a reason."),
        ({"reason": "BORING"}, "Select a valid choice."),
        ({"note": "x" * 501}, "at most 500 characters"),
        ({"action": "SILENCE"}, "This field is required."),
        ({"action": "SILENCE", "silence_days": "x"}, "Enter a whole number."),
        ({"silence_days": 0}, "greater than or equal to 1"),
        ({"silence_days": 10**9}, "less than or equal to 3650"),
        (
            {"action": "DISMISS", "silence_days": 3},
            "Nobody is silenced by a dismissal.",
        ),
        ({"seen": "yesterday"}, "Load the page again."),
        ({"seen": "2026-11-28T00:00:00"}, "Load the page again."),
        ({"seen": "2026-13-99T00:00:00Z"}, "Load the page again."),
    ],
)
def test_wrong_form_is_shown_again_with_its_errors(
    moderator: JSONClient, author: Member, values: dict[str, Any], message: str
) -> None:
    case = make_case(make_post(author))
    answer = decide(moderator, case, **values)
    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert not Decision.objects.exists()


def test_case_about_a_member_offers_what_fits(
    moderator: JSONClient, author: Member
) -> None:
    case = make_case(author)
    page = get_page(moderator, page_of(case))
    offered = re.findall(r'name="action" value="(\w+)"', page)
    assert offered == ["DISMISS", "SILENCE"]
    answer = decide(moderator, case)
    assert "A member can be silenced, not hidden" in answer.content.decode()
    assert decide(moderator, case, action="SILENCE", silence_days=2).status_code == 302
    held = make_post(author, is_hidden=True, hidden_reason="HELD")
    page = get_page(moderator, page_of(make_case(held, kind="HELD")))
    offered = re.findall(r'name="action" value="(\w+)"', page)
    assert offered == ["DISMISS", "HIDE", "BLIND", "DELETE"]
    assert "Nothing wrong: show it" in page
    assert "Silenced</span> until" in page


def test_case_that_is_not_there_is_404(moderator: JSONClient, author: Member) -> None:
    waiting = make_case(make_post(author), status="WAITING")
    gone = make_case(make_post(author))
    gone_id = gone.pk
    Report.objects.all().delete()
    gone.delete()
    for number in (waiting.pk, gone_id, 0, 2**63, 2**63 - 1, 10**40, "x", "-1", "１"):
        for ask in (moderator.get, moderator.post):
            answer: Any = ask(page_of(number), HIDE)
            assert answer.status_code == 404, number


def test_case_whose_author_and_post_are_gone_is_decided(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author)
    case = make_case(post)
    post.delete()
    ModerationCase.objects.update(author=None, title="", content="")
    assert "The author has left." in get_page(moderator, page_of(case))
    assert decide(moderator, case, action="DISMISS").status_code == 302
    assert get_page(moderator, page_of(case))


def test_moderator_who_was_demoted_meanwhile_decides_nothing(
    moderator: JSONClient, judge: Member, author: Member
) -> None:
    case = make_case(make_post(author))
    judge.role = "MEMBER"
    judge.save_fields("role")
    for ask in (moderator.get, moderator.post):
        answer: Any = ask(page_of(case), HIDE)
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith("/admin/login/")
    assert not Decision.objects.exists()


def test_form_of_another_site_is_refused(judge: Member, author: Member) -> None:
    case = make_case(make_post(author))
    browser = JSONClient(enforce_csrf_checks=True)
    browser.cookies["sessionid"] = JSONClient(judge).token
    assert browser.post(page_of(case), HIDE).status_code == 403
    assert not Decision.objects.exists()


def test_page_costs_the_same_for_1_row_and_for_50(
    moderator: JSONClient, author: Member
) -> None:
    post = make_post(author)
    case = make_case(make_comment(author, post=post))

    def grow() -> None:
        earlier = make_case(make_post(author), status="RESOLVED")
        judge = make_member(role="MODERATOR")
        Decision.objects.create(case=earlier, action="HIDE", actor=judge)
        Report.objects.create(case=case, member=make_member(), reason="SPAM")
        Decision.objects.create(case=case, action="HIDE", actor=judge)
        make_comment(make_member(), post=post)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            get_page(moderator, page_of(case))
        return len([q for q in queries if "board_" in q["sql"] or "member" in q["sql"]])

    grow()
    get_page(moderator, page_of(case))
    few = count()
    for _ in range(MANY):
        grow()
    assert count() == few
    assert few <= 14


def test_header_counts_open_cases_up_to_99(
    moderator: JSONClient, browser: JSONClient, author: Member
) -> None:
    def shown(reader: JSONClient) -> list[str]:
        page = get_page(reader, "/admin/")
        return re.findall(
            r'Queue(?: <span class="badge warn">([^<]*)</span>)?</a>', page
        )

    assert shown(moderator) == [""]
    make_case(make_post(author))
    assert shown(moderator) == shown(browser) == ["1"]
    ModerationCase.objects.bulk_create(
        ModerationCase(kind="REPORT", target_type="POST", target_id=10**9 + number)
        for number in range(99)
    )
    assert shown(moderator) == ["99+"]
    assert f'<a href="{CASES}">100</a>' in get_page(browser, "/admin/")
    assert "Queue" not in JSONClient().get("/admin/login/").content.decode()


def test_moderators_land_on_the_queue(judge: Member, administrator: Member) -> None:
    for member, expected in ((judge, CASES), (administrator, "/admin/")):
        form = {"username": member.login_id, "password": PASSWORD, "next": "/admin/"}
        answer: Any = JSONClient().post("/admin/login/", form)
        assert (answer.status_code, answer.headers["Location"]) == (302, expected)
    form = {"username": judge.login_id, "password": PASSWORD}
    form["next"] = "/admin/board/post/"
    answer = JSONClient().post("/admin/login/", form)
    assert answer.headers["Location"] == "/admin/board/post/"


def test_silence_of_the_past_is_not_shown(moderator: JSONClient) -> None:
    past = timezone.now() - timedelta(days=1)
    member = make_member(silenced_until=past, silence_reason="x")
    page = get_page(moderator, page_of(make_case(make_post(member))))
    assert "Silenced" not in page


def test_reports_from_outside_are_shown_with_their_address_to_administrators(
    moderator: JSONClient, administrator: Member, author: Member
) -> None:
    case = make_case(make_post(author), kind="NOTICE", report_count=0)
    text = "It names me.\n<b>Twice.</b>"
    report_outside(case, text=text, name="Kim", email="kim@example.org")
    shown = get_page(moderator, page_of(case))
    assert "Kim" in shown
    assert "It names me.<br>&lt;b&gt;Twice.&lt;/b&gt;" in shown
    assert "kim@example.org" not in shown
    shown = get_page(logged_in_browser(administrator), page_of(case))
    assert "kim@example.org" in shown


def test_reports_of_members_and_from_outside_are_counted(
    moderator: JSONClient, judge: Member, author: Member
) -> None:
    case = make_case(make_post(author), kind="NOTICE", report_count=2)
    other = make_case(make_post(author))
    for number in range(3):
        report_outside(case, text="x", name="Kim", email=f"k{number}@example.org")
    page = get_page(moderator, CASES)
    assert re.findall(r'class="field-all_report_count[^>]*>(\d+)<', page) == ["5", "1"]
    page = get_page(moderator, page_of(case))
    assert '<h2 id="reports">Reports (2)</h2>' in page
    assert '<h2 id="outside">Reports from outside (3)</h2>' in page
    assert 'id="outside"' not in get_page(moderator, page_of(other))
    listed = JSONClient(judge).get_json("/api/moderation/cases")["results"]
    counts = [(each["reportCount"], each["outsideReportCount"]) for each in listed]
    assert counts == [(2, 3), (1, 0)]
    path = f"/api/moderation/cases/{case.pk}"
    whole = JSONClient(judge).get_json(path)
    assert (whole["reportCount"], whole["outsideReportCount"]) == (2, 3)


def test_number_of_reports_from_outside_does_not_tell_who(judge: Member) -> None:
    case = make_case(make_post(judge), kind="NOTICE", report_count=0)
    report_outside(case, text="rude", name="Kim", email="kim@example.org")
    page = get_page(logged_in_browser(judge), page_of(case))
    assert "Reports from outside (1)" in page
    assert "Who reported you is not told." in page
    assert "rude" not in page
