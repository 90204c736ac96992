"""The pages of staff and the public pages are in Korean and in English."""

import re
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib import admin
from django.utils import timezone

from accounts.models import AuditLogEntry, AuthSession, Member
from administration.admin.member_deeds import DEEDS
from administration.log_entries import TEXTS
from board.models import Image
from core.admin.actions import ActionAdmin
from core.jobs.labels import JOB_LABELS
from core.jobs.status import get_job_intervals
from tests.support.admin_site import (
    MEMBERS,
    SETTINGS,
    list_pages,
    logged_in_browser,
    make_rows,
    use_korean_categories,
)
from tests.support.clients import JSONClient
from tests.support.second_factors import give_totp

HANGUL = re.compile("[가-힣]")
WORD = re.compile("[A-Za-z]{2,}")
KOREAN: dict[str, Any] = {"HTTP_ACCEPT_LANGUAGE": "ko-KR,ko;q=0.9,en;q=0.8"}
ENGLISH: dict[str, Any] = {"HTTP_ACCEPT_LANGUAGE": "en-US"}
# Names and formats that Korean writes in Latin letters.
NAMES = {"PostgreSQL", "Valkey", "CSV", "KRW", "PNG", "KB", "JSON", "HTTP", "API"}
NAMES |= {"OpenAPI", "Enter", "Ctrl", "Esc", "ID", "QR"}
# A member of answers, in the text of an error.
NAMES |= {"ticket"}
# Elements whose texts are of no language.
UNREAD = {"script", "style", "code", "pre"}
# What staff read besides the texts of the page.
ATTRIBUTES = ("title", "alt", "aria-label", "placeholder", "data-label")


def is_unread(tag: str, attributes: dict[str, Any]) -> bool:
    is_english = attributes.get("lang") == "en" and tag != "html"
    return is_english or tag in UNREAD


class Texts(HTMLParser):
    """Collects the texts of a page that a person reads or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        # The open element whose texts are of no language or English, and the elements
        # of its kind within.
        self.ignored, self.depth = "", 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        values = dict(attrs)
        if tag == self.ignored:
            self.depth += 1
        elif not self.ignored and is_unread(tag, values):
            self.ignored, self.depth = tag, 1
        if self.ignored:
            return
        self.texts += [values[name] for name in ATTRIBUTES if values.get(name)]
        if tag == "input" and values.get("type") == "submit":
            self.texts.append(values["value"])

    def handle_endtag(self, tag: str) -> None:
        if tag == self.ignored:
            self.depth -= 1
            if not self.depth:
                self.ignored = ""

    def handle_data(self, data: str) -> None:
        if not self.ignored and data.strip():
            self.texts.append(data.strip())


def read_texts(html: str) -> list[str]:
    parser = Texts()
    parser.feed(html)
    return parser.texts


def find_english(html: str, *data: str) -> list[str]:
    """Return the texts with a word in Latin letters that is no name and no data."""
    found = []
    for text in read_texts(html):
        rest = text
        for value in sorted(data, key=len, reverse=True):
            rest = rest.replace(value, "")
        if set(WORD.findall(rest)) - NAMES:
            found.append(text)
    return found


@pytest.fixture
def member(administrator: Member) -> Member:
    use_korean_categories()
    return make_rows(administrator)


@pytest.fixture
def data(administrator: Member, member: Member) -> list[str]:
    """Return what the rows themselves have in Latin letters."""
    requests = AuditLogEntry.objects.values_list("request_id", flat=True)
    images = [str(image.pk) for image in Image.objects.all()]
    return [
        "signup_enabled",
        *images,
        *(image[:8] for image in images),
        *(administrator.login_id, administrator.display_name, administrator.email),
        *(member.email, f"GPA.{member.login_id}", *filter(None, requests)),
    ]


def test_no_page_of_staff_has_a_text_that_is_not_korean(
    administrator: Member, member: Member, data: list[str]
) -> None:
    browser = logged_in_browser(administrator)
    pages = list_pages()
    assert len(pages) > 25
    english = {}
    for path in pages:
        response = browser.get(path, **KOREAN)
        assert response.status_code == 200, path
        html = response.content.decode()
        assert '<html lang="ko"' in html
        if found := find_english(html, *data):
            english[path] = found
    assert english == {}


def test_questions_before_actions_are_korean(
    administrator: Member, member: Member, data: list[str]
) -> None:
    browser = logged_in_browser(administrator)
    asked = 0
    for model, model_admin in admin.site._registry.items():
        if not isinstance(model_admin, ActionAdmin):
            continue
        row = model._default_manager.order_by("-pk").first()
        assert row is not None
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        for name, action in model_admin.row_actions.items():
            form = {"action": name, "_selected_action": row.pk}
            if action.question:
                page = browser.post(path, form, **KOREAN).content.decode()
                assert find_english(page, *data) == [], name
                asked += 1
    assert asked >= 9


def test_pages_about_one_member_are_korean(
    administrator: Member, member: Member, data: list[str], mail_folder: Any
) -> None:
    member.silenced_until = timezone.now() + timedelta(days=1)
    member.save_fields("silenced_until")
    give_totp(member)
    browser = logged_in_browser(administrator)
    base, english = f"{MEMBERS}{member.pk}", {}
    for name in DEEDS:
        path = f"{base}/deeds/{name}/"
        pages = [browser.get(path, **KOREAN)]
        if name == "deletion":
            form = {"login_id": "x", "confirmed": "yes"}
            pages.append(browser.post(path, form, **KOREAN))
        for page in pages:
            english[path] = find_english(page.content.decode(), *data)
    asked = browser.get(f"{base}/support/", **KOREAN)
    shown = browser.post(f"{base}/support/", {"reason": "분실"}, **KOREAN)
    english["support"] = find_english(asked.content.decode(), *data)
    english["shown"] = find_english(shown.content.decode(), *data)
    log = browser.get("/admin/accounts/auditlogentry/", **KOREAN)
    assert "사유: 분실" in log.content.decode()
    give_totp(administrator)
    AuthSession.objects.update(fresh_until=None)
    proof = browser.get(f"{base}/deeds/deletion/", **KOREAN)
    english["proof"] = find_english(proof.content.decode(), *data)
    assert {path: found for path, found in english.items() if found} == {}
    assert len(english) == len(DEEDS) + 3


def test_set_up_of_the_second_factor_is_korean(
    administrator: Member, data: list[str]
) -> None:
    browser = logged_in_browser(administrator)
    setup = "/admin/second-factor/"
    for form in ({}, {"code": "x"}):
        page = browser.post(setup, form, **KOREAN).content.decode()
        secret = re.findall(r'class="secret">([A-Z2-7 ]+)<', page)
        assert find_english(page, *data, *secret) == []


def test_what_an_action_did_is_told_in_korean(
    administrator: Member, member: Member, data: list[str]
) -> None:
    browser = logged_in_browser(administrator)
    form = {"action": "suspend", "_selected_action": member.pk, "confirmed": "yes"}
    browser.post(MEMBERS, form, **KOREAN)
    page = browser.get(f"{MEMBERS}{member.pk}/change/", **KOREAN).content.decode()
    assert "정지하기 처리를 마쳤어요" in page
    assert find_english(page, *data) == []


def test_login_page_is_korean() -> None:
    page = JSONClient().get("/admin/login/", **KOREAN).content.decode()
    assert find_english(page) == []
    assert HANGUL.search(page)


def test_pages_are_english_for_others(administrator: Member) -> None:
    # Without rows: those of members are in Korean.
    use_korean_categories()
    browser = logged_in_browser(administrator)
    for path in ("/admin/", MEMBERS, SETTINGS, "/admin/board/post/"):
        for header in (ENGLISH, {"HTTP_ACCEPT_LANGUAGE": "fr"}, {}):
            html = browser.get(path, **header).content.decode()
            assert '<html lang="en"' in html
            assert not [t for t in read_texts(html) if HANGUL.search(t)]


@pytest.mark.parametrize("path", ["/", "/api/docs", "/api/docs/try"])
def test_public_pages_have_no_text_that_is_not_korean(path: str) -> None:
    response = JSONClient().get(path, **KOREAN)
    html = response.content.decode()
    assert find_english(html) == []
    assert HANGUL.search(html)
    assert response.headers["Content-Language"] == "ko"
    assert "Accept-Language" in response.headers["Vary"]
    english = JSONClient().get(path, **ENGLISH).content.decode()
    assert not [text for text in read_texts(english) if HANGUL.search(text)]


def test_english_text_would_be_found() -> None:
    page = '<p>회원 Members</p><input type="submit" value="Save"><i title="Go"></i>'
    assert find_english(page) == ["회원 Members", "Save", "Go"]
    assert find_english("<p>회원 m1@x.kr CSV</p>", "m1@x.kr") == []


def test_each_job_of_the_schedule_has_words() -> None:
    assert set(JOB_LABELS) - {"backup"} == set(get_job_intervals())


def test_the_log_is_kept_in_english_and_read_in_korean(
    administrator: Member, member: Member
) -> None:
    browser = logged_in_browser(administrator)
    form = {
        "form-TOTAL_FORMS": 1,
        "form-INITIAL_FORMS": 1,
        "form-0-name": "signup_enabled",
        "initial-form-0-enabled": "True",
        "_save": "1",
    }
    assert browser.post(SETTINGS, form, **KOREAN).status_code == 302
    entry = AuditLogEntry.objects.order_by("-id")[0]
    assert entry.text in TEXTS
    page = browser.get("/admin/accounts/auditlogentry/", **KOREAN).content.decode()
    assert "꺼짐으로 바꿨어요." in page
    assert "정지했어요." in page
