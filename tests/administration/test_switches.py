"""Switches: what is closed, for whom, in whose name, and what stays open."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from accounts.models import ApplicationSetting, AuditLogEntry, Member
from accounts.switches import switches
from accounts.switches.switches import KNOWN, Switches, set_switches
from board.models import Image, Post
from tests.support.admin_site import LOG, SETTINGS, get_page, logged_in_browser
from tests.support.board import upload
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_comment, make_post
from tests.support.images import draw
from tests.support.problems import assert_invalid, assert_problem

PATH = "/api/admin/switches"
ALL_ON = {
    "signup": True,
    "posting": True,
    "images": True,
    "identityProviders": True,
    "readOnly": False,
}
POST = {"title": "Title", "content": "<p>Words</p>", "category": "tips"}


def data_url() -> str:
    return f"data:image/png;base64,{base64.b64encode(draw()).decode()}"


@pytest.fixture
def turn(administrator: Member) -> Callable[..., None]:
    def turn(**values: bool) -> None:
        set_switches(Switches(**values), administrator)

    return turn


def test_switches_are_read_and_turned(
    client: JSONClient, anonymous: JSONClient
) -> None:
    assert client.get_json(PATH) == ALL_ON
    off = ALL_ON | {"signup": False, "posting": False, "identityProviders": False}
    response = client.send("PUT", PATH, off)
    assert (response.status_code, response.data) == (200, off)
    assert client.get_json(PATH) == off
    # The sign-up switch is the same setting as before.
    assert client.get_json("/api/admin/signup-enabled") == {"enabled": False}
    features = anonymous.get_json("/api/meta")["features"]
    assert (features["signup"], features["posting"]) == (False, False)
    assert (features["images"], features["readOnly"]) == (True, False)


def test_log_names_each_switch_that_changed(
    client: JSONClient, administrator: Member
) -> None:
    for _ in range(2):
        client.send("PUT", PATH, ALL_ON | {"posting": False, "readOnly": True})
    lines = AuditLogEntry.objects.order_by("target_id")
    assert [(line.actor_id, line.target_id, line.text) for line in lines] == [
        (administrator.pk, "posting", "Enabled false."),
        (administrator.pk, "read_only", "Enabled true."),
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"posting": "false"}, "posting"),
        ({"images": 0}, "images"),
        ({"readOnly": None}, "readOnly"),
        ({"read_only": True}, "read_only"),
        ({"votes": False}, "votes"),
    ],
)
def test_wrong_bodies_write_nothing(
    client: JSONClient, change: dict[str, Any], field: str
) -> None:
    response = client.send("PUT", PATH, ALL_ON | {"signup": False} | change)
    assert_invalid(response, field)
    assert client.get_json(PATH) == ALL_ON


def test_each_switch_is_required(client: JSONClient) -> None:
    for name in ALL_ON:
        body = {key: value for key, value in ALL_ON.items() if key != name}
        assert_invalid(client.send("PUT", PATH, body), name)


def test_closed_posting_refuses_posts_and_comments_only(
    free_member: Member, other_member: Member, turn: Callable[..., None]
) -> None:
    post, comment = make_post(free_member), make_comment(free_member)
    other = make_post(other_member)
    client = JSONClient(free_member)
    turn(posting=False)
    for method, path, body in (
        ("POST", "/api/board/posts", POST),
        ("PUT", f"/api/board/posts/{post.pk}", POST),
        ("PATCH", f"/api/board/posts/{post.pk}", {"title": "New"}),
        ("POST", f"/api/board/posts/{other.pk}/comments", {"content": "words"}),
        ("PUT", f"/api/board/comments/{comment.pk}", {"content": "words"}),
        # Before the body is looked at.
        ("POST", "/api/board/posts", {}),
    ):
        assert_problem(client.send(method, path, body), 403, "SWITCHED_OFF")
    vote = client.send("POST", f"/api/board/posts/{other.pk}/vote", {"set": "up"})
    assert vote.status_code == 200
    assert client.send("DELETE", f"/api/board/posts/{post.pk}").status_code == 204
    turn()
    assert client.send("POST", "/api/board/posts", POST).status_code == 201


def test_writer_asks_again_in_the_transaction(
    free_member: Member, turn: Callable[..., None]
) -> None:
    """Another process has turned the switch, and this one does not know it yet."""
    turn(posting=False, images=False)
    KNOWN.switches, KNOWN.read_at = Switches(), 10.0**12
    client = JSONClient(free_member)
    assert_problem(client.send("POST", "/api/board/posts", POST), 403, "SWITCHED_OFF")
    path = "/api/auth/profile-image"
    response = client.send("PUT", path, {"profileImage": data_url()})
    assert_problem(response, 403, "SWITCHED_OFF")
    response = upload(client, draw())
    assert_problem(response, 403, "SWITCHED_OFF")
    assert not Post.objects.exists()
    assert not Image.objects.exists()


def test_closed_images_refuse_uploads_and_let_images_be_removed(
    free_member: Member, turn: Callable[..., None]
) -> None:
    client, path = JSONClient(free_member), "/api/auth/profile-image"
    image = {"profileImage": data_url()}
    assert client.send("PUT", path, image).status_code == 200
    turn(images=False)
    assert_problem(client.send("PUT", path, image), 403, "SWITCHED_OFF")
    response = upload(client, draw())
    assert_problem(response, 403, "SWITCHED_OFF")
    assert client.send("PUT", path, {"profileImage": None}).status_code == 200
    assert client.send("POST", "/api/board/posts", POST).status_code == 201


def test_closed_identity_providers_refuse_logins_and_links(
    anonymous: JSONClient,
    free_member: Member,
    turn: Callable[..., None],
    settings: Any,
) -> None:
    settings.IDP_CLIENT_ID = "client"
    assert anonymous.get_json("/api/meta")["features"]["providers"] == ["google"]
    turn(identity_providers=False)
    assert anonymous.get_json("/api/meta")["features"]["providers"] == []
    # The provider is not asked: its address is closed in tests.
    response = anonymous.send("POST", "/api/auth/idp", {"idToken": "x"})
    assert_problem(response, 403, "SWITCHED_OFF")
    client = JSONClient(free_member)
    response = client.send("POST", "/api/auth/identities", {"idToken": "x"})
    assert_problem(response, 403, "SWITCHED_OFF")


def test_read_only_service_refuses_changes_and_answers_reads(
    free_member: Member, anonymous: JSONClient, turn: Callable[..., None]
) -> None:
    client = JSONClient(free_member)
    turn(read_only=True)
    for method, path, body in (
        ("POST", "/api/account/wallets", {"name": "New", "kind": "CASH"}),
        ("POST", "/api/board/posts", POST),
        ("PUT", "/api/auth/profile", {"displayName": "New"}),
        ("DELETE", "/api/auth/me", None),
        # Its address without a prefix.
        ("PUT", "/auth/profile", {"displayName": "New"}),
    ):
        response = client.send(method, path, body)
        assert_problem(response, 503, "READ_ONLY")
        assert response.headers["Retry-After"] == "60"
    assert_problem(anonymous.send("POST", "/api/auth/signup", {}), 503, "READ_ONLY")
    # The store sends it again.
    assert_problem(
        anonymous.send("POST", "/api/billing/store/rtdn", {}), 503, "READ_ONLY"
    )
    assert client.get_json("/api/account/wallets") == []
    assert client.get("/api/health").status_code == 200
    assert anonymous.get_json("/api/meta")["features"]["readOnly"] is True
    text = client.send("DELETE", "/api/auth/me", HTTP_ACCEPT_LANGUAGE="ko").data
    assert "점검" in text["detail"]


def test_read_only_service_lets_members_log_in_and_out(
    free_member: Member, anonymous: JSONClient, turn: Callable[..., None]
) -> None:
    turn(read_only=True)
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    assert anonymous.send("POST", "/api/auth/login", body).status_code == 200
    body = {"ticket": "x" * 43, "code": "123456"}
    response = anonymous.send("POST", "/api/auth/login/second-factor", body)
    assert response.status_code in {400, 401}
    client = JSONClient(free_member)
    assert client.send("POST", "/api/auth/logout").status_code == 204


def test_administrator_ends_it_by_the_api(
    client: JSONClient, turn: Callable[..., None]
) -> None:
    turn(read_only=True)
    path = "/api/admin/signup-enabled"
    assert_problem(client.send("PUT", path, {"enabled": True}), 503, "READ_ONLY")
    assert client.send("PUT", PATH, ALL_ON).status_code == 200
    assert client.send("PUT", path, {"enabled": True}).status_code == 200


@pytest.mark.parametrize("path", ["/account/delete", "/legal/report"])
def test_pages_for_everybody_say_that_nothing_can_be_changed(
    anonymous: JSONClient, turn: Callable[..., None], path: str
) -> None:
    turn(read_only=True)
    assert anonymous.get(path).status_code == 200
    response = anonymous.post(
        path, {"x": "y"}, HTTP_ACCEPT="text/html", HTTP_ACCEPT_LANGUAGE="ko"
    )
    assert response.status_code == 503
    assert response.headers["Content-Type"].startswith("text/html")
    assert "점검" in response.content.decode()


def test_administrator_ends_it_in_django_admin_and_does_nothing_else_there(
    administrator: Member, free_member: Member, turn: Callable[..., None]
) -> None:
    turn(read_only=True)
    browser = logged_in_browser(administrator)
    change = f"/admin/accounts/member/{free_member.pk}/change/"
    response = browser.post(change, {}, HTTP_ACCEPT="text/html")
    assert response.status_code == 503
    page = get_page(browser, SETTINGS)
    assert "Read-only: nothing may be changed" in page
    rows = list(ApplicationSetting.objects.order_by("name"))
    assert len(rows) == len(ALL_ON)
    form = {
        "form-TOTAL_FORMS": len(rows),
        "form-INITIAL_FORMS": len(rows),
        "_save": "Save",
    }
    for number, row in enumerate(rows):
        form[f"form-{number}-name"] = row.name
        form[f"initial-form-{number}-enabled"] = str(row.enabled)
        if row.name != "read_only":
            form[f"form-{number}-enabled"] = "on"
    assert browser.post(SETTINGS, form).status_code == 302
    line = AuditLogEntry.objects.order_by("-id").first()
    assert line is not None
    assert (line.actor_id, line.target_id) == (administrator.pk, "read_only")
    assert line.text == "Enabled false."
    assert "Enabled false." in get_page(browser, LOG)
    wallet = {"name": "New", "kind": "CASH"}
    client = JSONClient(free_member)
    assert client.send("POST", "/api/account/wallets", wallet).status_code == 201


def test_page_that_is_left_open_turns_back_nothing(
    administrator: Member, turn: Callable[..., None]
) -> None:
    browser = logged_in_browser(administrator)
    page = get_page(browser, SETTINGS)
    rows = list(ApplicationSetting.objects.order_by("name"))
    form: dict[str, Any] = {
        "form-TOTAL_FORMS": len(rows),
        "form-INITIAL_FORMS": len(rows),
        "_save": "Save",
    }
    for number, row in enumerate(rows):
        assert f'name="initial-form-{number}-enabled"' in page
        form[f"form-{number}-name"] = row.name
        form[f"initial-form-{number}-enabled"] = str(row.enabled)
        if row.enabled and row.name != "signup_enabled":
            form[f"form-{number}-enabled"] = "on"
    # Another administrator closes the board meanwhile.
    turn(posting=False)
    assert browser.post(SETTINGS, form).status_code == 302
    closed = ApplicationSetting.objects.filter(
        name__in=["posting", "signup_enabled"], enabled=False
    )
    assert closed.count() == 2


def test_switches_cost_no_statement_while_they_are_known(
    free_member: Member, settings: Any
) -> None:
    client = JSONClient(free_member)
    counts = []
    for seconds in (10**9, -1):
        settings.SWITCH_CACHE_SECONDS = seconds
        with CaptureQueriesContext(connection) as queries:
            client.send("POST", "/api/account/wallets", {"name": "N", "kind": "CASH"})
        counts.append(sum("application_setting" in query["sql"] for query in queries))
    assert counts == [0, 1]


def test_switches_are_as_last_known_while_the_database_is_away(
    monkeypatch: pytest.MonkeyPatch, turn: Callable[..., None]
) -> None:
    turn(posting=False)
    assert not KNOWN.get().posting

    def fail() -> None:
        raise OperationalError

    KNOWN.forget()
    with monkeypatch.context() as patch:
        patch.setattr(switches, "read_switches", fail)
        assert not KNOWN.get().posting
    turn(posting=True)
    assert KNOWN.get().posting
