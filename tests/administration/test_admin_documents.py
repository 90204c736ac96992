"""Administrators publish documents in Django admin (spec 2.20, 7.7)."""

from typing import Any

import pytest

from accounts.models import AuditLogEntry, ConsentCount, LegalDocument, Member
from tests.support.admin_site import get_page, logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import make_member

DOCUMENTS = "/admin/accounts/legaldocument/"
ADD = f"{DOCUMENTS}add/"
FORM = {
    "kind": "TERMS",
    "version": "2.0",
    "effective_at": "2026-12-01T09:00",
    "required": "on",
    "title_ko": "이용 약관",
    "body_ko": "서로 존중해요.\n\n<b>정말로</b>",
    "title_en": "Terms",
    "body_en": "Be kind.",
}


def publish(browser: JSONClient, **values: Any) -> Any:
    return browser.post(ADD, FORM | {"confirmed": "yes"} | values)


def test_document_is_published_in_both_languages_after_a_question(
    browser: JSONClient, administrator: Member
) -> None:
    assert ADD in get_page(browser, DOCUMENTS)
    assert 'name="body_ko"' in get_page(browser, ADD)
    answer: Any = browser.post(ADD, FORM)
    page = answer.content.decode()
    assert "It cannot be changed any more once it is published." in page
    assert "&lt;b&gt;정말로&lt;/b&gt;" in page
    assert not LegalDocument.objects.exists()
    answer = publish(browser)
    assert (answer.status_code, answer.headers["Location"]) == (302, DOCUMENTS)
    korean, english = LegalDocument.objects.order_by("locale").reverse()
    assert (korean.locale, korean.title, korean.body) == (
        *("ko", "이용 약관"),
        FORM["body_ko"],
    )
    assert (english.locale, english.title, english.required) == ("en", "Terms", True)
    # In the home time zone.
    assert korean.effective_at.isoformat() == "2026-12-01T00:00:00+00:00"
    entries = AuditLogEntry.objects.filter(actor_id=administrator.pk)
    targets = {entry.target_id for entry in entries}
    assert targets == {str(korean.pk), str(english.pk)}
    page = get_page(browser, DOCUMENTS)
    for text in ("이용 약관", "Terms of use", "Korean", "English", "2026-12-01 09:00"):
        assert text in page


def test_ends_of_lines_of_browsers_are_those_of_the_api(browser: JSONClient) -> None:
    assert publish(browser, body_en="First\r\n\r\nnext").status_code == 302
    assert LegalDocument.objects.get(locale="en").body == "First\n\nnext"


def test_document_in_one_language_is_enough(browser: JSONClient) -> None:
    assert publish(browser, title_ko="", body_ko="").status_code == 302
    assert LegalDocument.objects.get().locale == "en"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "RECIPE"}, "Select a valid choice."),
        ({"kind": "MARKETING"}, "Consent to marketing is always optional."),
        ({"version": ""}, "This field is required."),
        ({"version": "x" * 21}, "at most 20 characters"),
        ({"effective_at": "soon"}, "Enter a valid date/time."),
        ({"effective_at": "0001-01-01T00:00"}, "overflow"),
        ({"title_ko": ""}, "This field may not be blank."),
        ({"body_en": ""}, "This field may not be blank."),
        (
            {"title_ko": "", "body_ko": "", "title_en": "", "body_en": ""},
            "Write it in one language at least.",
        ),
    ],
)
def test_wrong_document_is_shown_again_with_its_errors(
    browser: JSONClient, values: dict[str, str], message: str
) -> None:
    answer = publish(browser, **values)
    assert answer.status_code == 200
    page = answer.content.decode()
    if message != "overflow":
        assert message in page
    assert 'name="confirmed"' not in page
    assert not LegalDocument.objects.exists()


def test_known_version_is_refused_in_all_languages(browser: JSONClient) -> None:
    publish(browser, title_ko="", body_ko="")
    answer = publish(browser)
    assert "This version has been published." in answer.content.decode()
    assert LegalDocument.objects.count() == 1
    assert AuditLogEntry.objects.count() == 1


def test_question_leads_back_to_the_form(browser: JSONClient) -> None:
    page = publish(browser, edit="yes").content.decode()
    assert "Be kind.</textarea>" in page
    assert 'name="confirmed"' not in page
    assert not LegalDocument.objects.exists()


def test_published_document_is_read_only_with_its_consents(
    browser: JSONClient,
) -> None:
    publish(browser)
    document = LegalDocument.objects.get(locale="ko")
    for accepted, count in ((True, 1_200), (True, 34), (False, 5)):
        ConsentCount.objects.create(document=document, accepted=accepted, count=count)
    path = f"{DOCUMENTS}{document.pk}/change/"
    page = get_page(browser, path)
    for text in ("1,234", ">5<", "서로 존중해요.", "&lt;b&gt;"):
        assert text in page
    assert "<b>정말로" not in page
    assert "<textarea" not in page
    assert browser.post(path, FORM).status_code == 403
    assert browser.post(f"{DOCUMENTS}{document.pk}/delete/").status_code == 403


def test_documents_are_for_administrators(browser: JSONClient) -> None:
    publish(browser)
    moderator = logged_in_browser(make_member(role="MODERATOR"))
    document = LegalDocument.objects.first()
    assert document is not None
    for path in (DOCUMENTS, ADD, f"{DOCUMENTS}{document.pk}/change/"):
        for ask in (moderator.get, moderator.post):
            answer: Any = ask(path, FORM | {"version": "9", "confirmed": "yes"})
            assert answer.status_code == 403, path
    assert LegalDocument.objects.count() == 2


def test_list_does_not_read_the_texts(browser: JSONClient) -> None:
    publish(browser)
    assert "Be kind." not in get_page(browser, DOCUMENTS)
