"""`show_mail` prints the newest mail of the folder."""

import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.mail.delivery import send_due_mails
from accounts.mail.outbox import queue_mail
from accounts.models import Mail, Member


def test_newest_mail_is_printed(free_member: Member, mail_folder: Path) -> None:
    for number, code in enumerate(("WDJB-MJHT", "XXXX-BBBB")):
        queue_mail(
            free_member,
            "verify_email",
            {"login_id": "minji", "code": code, "link": "-"},
            to="minji@example.com",
            language="ko",
        )
        send_due_mails()
        name = Mail.objects.latest("id").message_id.strip("<").partition("@")[0]
        os.utime(mail_folder / f"{name}.eml", (number, number))
    output = StringIO()
    call_command("show_mail", stdout=output)
    text = output.getvalue()
    assert "To: minji@example.com" in text
    assert "확인 코드 XXXX-BBBB" in text
    assert "WDJB-MJHT" not in text
    output = StringIO()
    call_command("show_mail", "--count", "2", stdout=output)
    text = output.getvalue()
    assert text.index("WDJB-MJHT") < text.index("XXXX-BBBB")


def test_without_a_mail_the_command_says_why(settings: Any, tmp_path: Path) -> None:
    for server in (None, {"host": "mail.example"}, {"folder": tmp_path}):
        settings.MAIL_SERVER = server
        with pytest.raises(CommandError):
            call_command("show_mail")
