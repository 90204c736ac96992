"""The page for reports of people without an account."""

from typing import Any

from board.models import OutsideReport
from tests.support.clients import JSONClient
from tests.support.mail import ReadMail, read_waiting_mails

PAGE = "/legal/report"
FORM = {
    "reason": "DEFAMATION",
    "text": "The second line lies about me.",
    "name": "Kim",
    "email": "kim@example.org",
}


def send_form(**values: Any) -> Any:
    """Send the form, in the language of the browser."""
    return JSONClient().post(PAGE, {**FORM, **values})


def read_code_mail(target: str, **values: Any) -> ReadMail:
    """Ask for a report, and return the mail with its code."""
    page = send_form(target=target, **values)
    assert page.status_code == 200, page.content.decode()
    return read_waiting_mails()[-1]


def confirm(mail: ReadMail, *, code: str = "") -> Any:
    form = {"request": mail.request_id, "code": code or mail.codes[0]}
    return JSONClient().post(PAGE, form)


def report_from_outside(target: str, **values: Any) -> OutsideReport:
    """Report with a confirmed code."""
    mail = read_code_mail(target, **values)
    page = confirm(mail)
    assert page.status_code == 200, page.content.decode()
    return OutsideReport.objects.get(pk=mail.request_id)
