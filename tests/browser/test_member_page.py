"""Staff help members in Django admin, in a real browser and without the API (spec 7.14).

With SCREENSHOTS set to a folder, pictures of the pages are left there. Each task of a
day counts its clicks from the list of members to the result.
"""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyotp
import pytest
from django.utils import timezone

from accounts.models import AuthSession, Mail, Member
from board.models import Post
from tests.support.devtools import Chromium, find_barriers, needs_chromium
from tests.support.factories import PASSWORD, make_member, make_post
from tests.support.purchases import make_purchase
from tests.support.second_factors import code_now, give_totp

pytestmark = [
    needs_chromium,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("axe"),
]

SCREENSHOTS = os.environ.get("SCREENSHOTS", "")
LOOKS = [
    *((390, "light", "ko"), (390, "dark", "en")),
    *((1440, "light", "en"), (1440, "dark", "ko")),
]
each_look = pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
LIST = "/admin/accounts/member/"


class Desk:
    """A page of an administrator who is logged in, and the clicks so far."""

    def __init__(self, page: Chromium, address: str, staff: Member) -> None:
        self.page, self.address, self.staff = page, address, staff
        self.clicks = 0

    def log_in(self) -> None:
        self.page.open(f"{self.address}/admin/login/?next={LIST}")
        self.page.type("#id_username", self.staff.login_id)
        self.page.type("#id_password", PASSWORD)
        self.page.click("input[type=submit]")

    def click(self, selector: str) -> None:
        self.page.click(selector)
        self.clicks += 1

    def find(self, member: Member) -> None:
        """Open the member's page from the list."""
        self.page.open(f"{self.address}{LIST}")
        self.page.type("#searchbar", member.login_id)
        self.click("#changelist-search input[type=submit], #changelist-search button")
        self.click(f'a[href*="/member/{member.pk}/change/"]')

    def follow(self, name: str) -> None:
        """Follow the button of the page that leads to a question."""
        self.click(f'.row-actions a[href*="/{name}/"]')

    def press(self, action: str) -> None:
        self.click(f'.row-actions button[value="{action}"]')

    def confirm(self) -> None:
        self.click(".row-actions .default")

    def prove(self) -> None:
        """Show once more who it is."""
        self.page.type("#id_proof_password", PASSWORD)
        if self.page.evaluate("!!document.querySelector('#id_proof_code')"):
            self.page.type("#id_proof_code", code_now(steps=1))
        self.confirm()

    def check(self, name: str) -> None:
        """Check that the page fits and has neither errors nor barriers."""
        page = self.page
        if SCREENSHOTS:
            page.shoot(Path(SCREENSHOTS) / f"{name}.png")
        assert page.errors() == [], name
        too_wide = "document.documentElement.scrollWidth > innerWidth"
        assert not page.evaluate(too_wide), name
        assert find_barriers(page) == [], name
        # axe-core itself sets styles that the policy refuses.
        page.errors()
        page.events.clear()

    def make_stale(self) -> None:
        AuthSession.objects.filter(member=self.staff).update(
            fresh_until=None, factor_fresh_until=None
        )


@pytest.fixture
def desk(page: Chromium, live_server: Any) -> Desk:
    staff = make_member(role="ADMIN", login_id="staff", password=PASSWORD)
    return Desk(page, live_server.url, staff)


def make_minji(**fields: Any) -> Member:
    member = make_member(
        login_id="minji",
        display_name="김민지",
        email="minji@example.com",
        verified_email="minji@example.com",
        **fields,
    )
    give_totp(member)
    make_purchase(member, "GPA.1234-5678-9012-34567")
    return member


@each_look
def test_pages_of_a_member_fit_and_have_no_barriers(
    desk: Desk, mail_folder: Path, width: int, scheme: str, language: str
) -> None:
    page = desk.page
    headers = {"Accept-Language": language}
    page.call("Network.setExtraHTTPHeaders", headers=headers)
    page.use_scheme(scheme)
    page.resize(width, 900)
    member = make_minji(
        silenced_until=timezone.now() + timedelta(days=1),
        silence_reason="insults",
    )
    look = f"{width}-{scheme}-{language}"
    desk.log_in()
    desk.find(member)
    desk.check(f"member-{look}")
    base = f"{desk.address}{LIST}{member.pk}"
    for name in (
        *("password-reset", "factors", "sessions", "silence", "end-silence"),
        *("suspension", "deletion"),
    ):
        page.open(f"{base}/deeds/{name}/")
        desk.check(f"{name}-{look}")
    page.type("#id_login_id", "someone")
    desk.confirm()
    desk.check(f"deletion-wrong-{look}")
    page.open(f"{base}/support/")
    desk.check(f"support-reason-{look}")
    page.type("#id_reason", "lost phone")
    desk.confirm()
    desk.check(f"support-{look}")
    desk.make_stale()
    page.open(f"{base}/deeds/deletion/")
    desk.check(f"proof-{look}")
    page.type("#id_proof_password", "wrong")
    desk.confirm()
    desk.check(f"proof-wrong-{look}")
    give_totp(desk.staff)
    page.open(f"{base}/deeds/deletion/")
    desk.check(f"proof-code-{look}")


@each_look
def test_second_factor_is_set_up_with_a_picture(
    desk: Desk, width: int, scheme: str, language: str
) -> None:
    page = desk.page
    headers = {"Accept-Language": language}
    page.call("Network.setExtraHTTPHeaders", headers=headers)
    page.use_scheme(scheme)
    page.resize(width, 900)
    look = f"{width}-{scheme}-{language}"
    desk.log_in()
    page.open(f"{desk.address}/admin/second-factor/")
    desk.check(f"factor-begin-{look}")
    page.click(".submit-row .default")
    # The picture is drawn, so that the policy allows it.
    assert page.evaluate("document.querySelector('.qr-code').naturalWidth") > 100
    desk.check(f"factor-secret-{look}")
    secret = page.evaluate("document.querySelector('.secret').textContent")
    page.type("#id_code", "nothing")
    page.click(".submit-row .default")
    desk.check(f"factor-wrong-{look}")
    assert page.evaluate("document.querySelector('.secret').textContent") == secret
    code = pyotp.TOTP(secret.replace(" ", "")).at(timezone.now())
    page.type("#id_code", code)
    page.click(".submit-row .default")
    assert page.evaluate("document.querySelectorAll('#content li code').length") == 10
    desk.check(f"factor-done-{look}")


def test_lost_phone(desk: Desk) -> None:
    member = make_minji()
    give_totp(desk.staff)
    page = desk.page
    desk.log_in()
    page.type("#id_code", code_now())
    page.click("input[type=submit]")
    desk.make_stale()
    desk.find(member)
    desk.follow("factors")
    desk.prove()
    desk.confirm()
    member.refresh_from_db()
    assert not member.has_second_factor
    assert urlsplit(page.evaluate("location.href")).path.endswith("/change/")
    assert desk.clicks == 5


def test_forgotten_password(desk: Desk, mail_folder: Path) -> None:
    member = make_minji()
    desk.log_in()
    desk.find(member)
    desk.follow("password-reset")
    desk.confirm()
    assert desk.page.evaluate("!!document.querySelector('.messagelist .success')")
    assert desk.clicks == 4


def test_stolen_session(desk: Desk) -> None:
    member = make_minji()
    AuthSession.objects.create(
        key_hash="1" * 64,
        member=member,
        created_at=timezone.now(),
        last_seen_at=timezone.now(),
        expires_at=timezone.now() + timedelta(days=1),
    )
    desk.log_in()
    desk.find(member)
    desk.follow("sessions")
    desk.confirm()
    assert not AuthSession.objects.filter(member=member).exists()
    assert desk.clicks == 4


@pytest.mark.parametrize("is_stale", [False, True])
def test_wrong_role(desk: Desk, is_stale: bool) -> None:
    member = make_minji(role="MODERATOR")
    desk.log_in()
    if is_stale:
        desk.make_stale()
    desk.find(member)
    desk.press("make_member")
    if is_stale:
        desk.prove()
    desk.confirm()
    member.refresh_from_db()
    assert member.role == "MEMBER"
    assert desk.clicks == (5 if is_stale else 4)


def test_refund(desk: Desk) -> None:
    member = make_minji(plan="PREMIUM")
    desk.log_in()
    desk.find(member)
    desk.press("set_free")
    desk.confirm()
    member.refresh_from_db()
    assert member.plan == "FREE"
    assert desk.clicks == 4


def test_complaint(desk: Desk) -> None:
    """A member asks why nothing works: support reads, and finds the silence."""
    member = make_minji(
        silenced_until=timezone.now() + timedelta(days=1),
        silence_reason="insults in comments",
    )
    desk.log_in()
    desk.find(member)
    desk.follow("support")
    desk.page.type("#id_reason", "cannot write comments")
    desk.confirm()
    assert "insults in comments" in desk.page.text()
    desk.click(".row-actions .cancel")
    desk.follow("end-silence")
    desk.confirm()
    member.refresh_from_db()
    assert member.silenced_until is None
    assert desk.clicks == 7


def test_spammer_with_300_posts(desk: Desk) -> None:
    member = make_minji()
    for number in range(300):
        make_post(member, title=f"Cheap rice {number}")
    desk.log_in()
    desk.find(member)
    desk.follow("author")
    page = desk.page
    page.wait("document.querySelector('#id_reason_DELETE')")
    page.evaluate("document.querySelector('#id_reason_DELETE').value = 'SPAM'")
    desk.click(".author-offer .dangerous")
    assert not Post.objects.filter(member=member, is_hidden=False).exists()
    desk.find(member)
    desk.follow("suspension")
    page.type("#id_reason", "spam")
    desk.confirm()
    member.refresh_from_db()
    assert (member.status, member.suspension_reason) == ("SUSPENDED", "spam")
    assert desk.clicks == 8


def test_quarrel(desk: Desk) -> None:
    member = make_minji()
    desk.log_in()
    desk.find(member)
    desk.follow("silence")
    desk.page.evaluate("document.querySelector('#id_until').value = '2099-01-01T09:00'")
    desk.page.type("#id_reason", "insults")
    desk.confirm()
    member.refresh_from_db()
    assert member.silence_reason == "insults"
    assert desk.clicks == 4


def test_deletion_by_letter(desk: Desk) -> None:
    member = make_minji()
    desk.log_in()
    desk.find(member)
    desk.follow("deletion")
    desk.page.type("#id_login_id", "minji")
    desk.confirm()
    assert not Member.objects.filter(pk=member.pk).exists()
    assert desk.clicks == 4


def test_export_for_an_auditor(desk: Desk) -> None:
    """The list of staff, filtered, is one link away."""
    make_minji(role="MODERATOR")
    desk.log_in()
    page = desk.page
    page.open(f"{desk.address}{LIST}?role__exact=MODERATOR")
    href = page.evaluate("document.querySelector('a[href*=\"export/\"]').href")
    text = page.evaluate(f"fetch('{href}').then((answer) => answer.text())")
    assert "minji" in text
    assert "staff" not in text
    assert not Mail.objects.exists()
