"""The page that deletes an account, and its mails."""

import html
import re
from typing import Any

from accounts.models import Code, Member
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.mail import ReadMail, process_resets

PAGE = "/account/delete"
HIDDEN_RE = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
ERROR_RE = re.compile(r'role="alert"[^>]*>([^<]*)<')


def make_without_password(**fields: Any) -> Member:
    """Return a member of the identity provider whose address is verified."""
    email = fields.pop("email", "own@example.com")
    defaults = {"provider": "IDP", "idp_id": "1", "verified_email": email}
    return make_member(email=email, password=None, **defaults | fields)


def post_page(language: str = "en", **values: str) -> Any:
    client = JSONClient(HTTP_ACCEPT_LANGUAGE=language)
    return client.post(PAGE, values)


def log_in_to_page(member: Member, password: str = PASSWORD) -> Any:
    return post_page(step="login", login_id=member.login_id, password=password)


def read_hidden(page: Any) -> dict[str, str]:
    """Return the hidden inputs of the last form."""
    *_, form = page.content.decode().split("<form ")
    return {name: html.unescape(value) for name, value in HIDDEN_RE.findall(form)}


def read_errors(page: Any) -> list[str]:
    return [html.unescape(text) for text in ERROR_RE.findall(page.content.decode())]


def begin(member: Member) -> dict[str, str]:
    """Return the hidden inputs after login id and password."""
    page = log_in_to_page(member)
    assert page.status_code == 200, page.content
    return read_hidden(page)


def mail_deletion(email: str) -> list[ReadMail]:
    """Ask for a mail; return the mails that wait after the job."""
    page = post_page(step="mail", email=email)
    assert page.status_code == 200, page.content
    return process_resets()


def link_form(mail: ReadMail) -> dict[str, str]:
    return {"step": "confirm", "request": mail.request_id, "code": mail.codes[0]}


def is_deleted(member: Member) -> bool:
    return not Member.objects.filter(pk=member.pk).exists()


def has_code(member: Member) -> bool:
    return Code.objects.filter(member=member).exists()
