"""Login by identity provider: the token's check, and find, link, create."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from accounts.models import AuthSession, Member, RateLimit
from accounts.signup_setting import set_signup_enabled
from core import http_client
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import (
    CLIENT_ID,
    EMAIL,
    HEADER,
    PICTURE,
    Vouch,
    encode_id_token,
    fake_provider_at,
    good_claims,
    make_id_token,
)
from tests.support.problems import assert_problem
from tests.support.stores import find_closed_port

PATH = "/api/auth/idp"


@pytest.fixture(autouse=True)
def vouch(settings: Any, httpserver: HTTPServer) -> Vouch:
    """Return `vouch(**claims)`, which sets the provider's answer; None omits a claim."""
    return fake_provider_at(settings, httpserver)


def log_in(client: JSONClient | None = None, token: Any = "", **fields: Any) -> Any:
    """Log in with a token that looks good, unless another is given."""
    body = {"idToken": make_id_token() if token == "" else token}
    return (client or JSONClient()).send("POST", PATH, body | fields)


def make_idp_member(**fields: Any) -> Member:
    member = make_member(**{"provider": "IDP", "email": EMAIL} | fields)
    member.set_unusable_password()
    member.save()
    return member


# --- Create ---------------------------------------------------------------------


@pytest.mark.django_db
def test_first_login_creates_a_member_and_a_session(vouch: Vouch) -> None:
    vouch()
    response = log_in()
    assert response.status_code == 200
    assert set(response.data) == {"token", "expiresAt", "member", "created", "linked"}
    assert (response.data["created"], response.data["linked"]) == (True, False)
    member = response.data["member"]
    assert (member["provider"], member["role"]) == ("IDP", "MEMBER")
    assert (member["displayName"], member["email"]) == ("Kim Minji", EMAIL)
    assert member["idpPicture"] == PICTURE
    assert response.cookies["sessionid"].value == response.data["token"]
    client = JSONClient()
    client.use_token(response.data["token"])
    assert client.get_json("/api/auth/session")["id"] == member["id"]


@pytest.mark.django_db
def test_token_is_sent_to_the_providers_check(
    vouch: Vouch, httpserver: HTTPServer
) -> None:
    token = vouch()
    log_in(token=token)
    request, _ = httpserver.log[-1]
    assert request.args.to_dict() == {"id_token": token}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("claims", "shown"),
    [
        ({"name": None}, "minji"),
        ({"name": None, "email": None}, "Member"),
        ({"name": "n" * 300}, "n" * 100),
        ({"name": 7}, "7"),
        ({"name": ["x"]}, "minji"),
    ],
)
def test_new_member_always_has_a_display_name(
    vouch: Vouch, claims: dict[str, Any], shown: str
) -> None:
    vouch(**claims)
    assert log_in().data["member"]["displayName"] == shown


@pytest.mark.django_db
def test_new_member_has_no_password(vouch: Vouch) -> None:
    vouch()
    log_in()
    assert not Member.objects.get().has_usable_password()


@pytest.mark.django_db
def test_creating_counts_as_sign_up_for_the_switch(vouch: Vouch) -> None:
    vouch()
    set_signup_enabled(enabled=False)
    response = log_in()
    assert (response.status_code, response.data["code"]) == (403, "SIGNUP_DISABLED")
    assert not Member.objects.exists()


@pytest.mark.django_db
def test_closed_sign_up_does_not_prevent_logins(vouch: Vouch) -> None:
    set_signup_enabled(enabled=False)
    make_idp_member(idp_id="subject-1")
    local = make_member(email="local@example.com")
    vouch()
    assert log_in().status_code == 200
    vouch(sub="subject-2", email=local.email)
    assert log_in().data["linked"] is True


# --- Find -----------------------------------------------------------------------


@pytest.mark.django_db
def test_second_login_finds_the_member_by_subject(vouch: Vouch) -> None:
    vouch()
    first = log_in().data
    vouch(email="new-address@example.com", name="New Name")
    second = log_in().data
    assert second["member"]["id"] == first["member"]["id"]
    assert (second["created"], second["linked"]) == (False, False)
    assert second["member"]["email"] == EMAIL
    assert second["member"]["displayName"] == "Kim Minji"
    assert second["token"] != first["token"]


@pytest.mark.django_db
def test_subject_takes_precedence_over_email(vouch: Vouch) -> None:
    """The email address may belong to another person by now."""
    make_member(email=EMAIL)
    mine = make_idp_member(idp_id="subject-1", email="old@example.com")
    vouch()
    assert log_in().data["member"]["id"] == mine.pk


@pytest.mark.django_db
def test_changed_picture_is_stored(vouch: Vouch) -> None:
    vouch()
    log_in()
    vouch(picture="https://pictures.example/newer.png")
    assert log_in().data["member"]["idpPicture"].endswith("newer.png")
    assert Member.objects.get().idp_picture.endswith("newer.png")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "picture",
    [
        None,
        "",
        "http://pictures.example/a.png",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "//pictures.example/a.png",
        "https://" + "x" * 2048,
        5,
    ],
)
def test_only_a_short_https_picture_is_stored(vouch: Vouch, picture: Any) -> None:
    vouch(picture=picture)
    assert log_in().data["member"]["idpPicture"] is None


@pytest.mark.django_db
def test_missing_picture_keeps_the_stored_one(vouch: Vouch) -> None:
    vouch()
    log_in()
    vouch(picture=None)
    assert log_in().data["member"]["idpPicture"] == PICTURE


# --- Link -----------------------------------------------------------------------


@pytest.mark.django_db
def test_verified_email_links_a_local_account(vouch: Vouch) -> None:
    member = make_member(email=EMAIL, display_name="As it was")
    vouch()
    response = log_in()
    assert response.data["member"]["id"] == member.pk
    assert (response.data["created"], response.data["linked"]) == (False, True)
    assert response.data["member"]["provider"] == "LOCAL"
    assert response.data["member"]["displayName"] == "As it was"
    assert response.data["member"]["idpPicture"] == PICTURE
    member.refresh_from_db()
    assert member.idp_id == "subject-1"


@pytest.mark.django_db
@pytest.mark.parametrize("is_verified", [False, True])
def test_linking_keeps_the_password_of_a_verified_address_only(
    vouch: Vouch, is_verified: bool
) -> None:
    """Whoever registered an address that was never verified may be a stranger."""
    member = make_member(email=EMAIL, verified_email=EMAIL if is_verified else "")
    session = JSONClient(member)
    vouch()
    assert log_in().data["linked"] is True
    member.refresh_from_db()
    assert member.has_usable_password() is is_verified
    assert session.get("/api/auth/session").status_code == 401


@pytest.mark.django_db
def test_new_address_links_once_it_is_verified(vouch: Vouch) -> None:
    member = make_member(email="old@example.com")
    Member.objects.filter(pk=member.pk).update(email=EMAIL)
    vouch()
    assert log_in().data["code"] == "LINKING_REFUSED"
    Member.objects.filter(pk=member.pk).update(verified_email=EMAIL)
    assert log_in().data["linked"] is True


@pytest.mark.django_db
def test_subject_is_backfilled_for_an_older_idp_account(vouch: Vouch) -> None:
    member = make_idp_member(idp_id=None)
    vouch()
    response = log_in()
    assert (response.data["member"]["id"], response.data["linked"]) == (member.pk, True)
    member.refresh_from_db()
    assert (member.idp_id, member.provider) == ("subject-1", "IDP")
    assert log_in().data["linked"] is False


@pytest.mark.django_db
def test_local_account_is_linked_first_and_then_the_oldest(vouch: Vouch) -> None:
    make_idp_member(idp_id=None)
    first_local = make_member(email=EMAIL)
    make_member(email=EMAIL)
    vouch()
    assert log_in().data["member"]["id"] == first_local.pk


@pytest.mark.django_db
def test_email_is_compared_without_regard_to_case(vouch: Vouch) -> None:
    member = make_member(email="Minji@Example.com")
    vouch()
    assert log_in().data["member"]["id"] == member.pk


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("mike@example.com", "mıke@example.com"),
        ("mıke@example.com", "mike@example.com"),
        ("mıke@example.com", "mıke@example.com"),
        ("siteadmin@example.com", "ſiteadmin@example.com"),
        ("ſiteadmin@example.com", "siteadmin@example.com"),
        ("kim@example.com", "\u212aim@example.com"),
        ("mike@example.com", "ｍｉｋｅ@example.com"),
        ("fiona@example.com", "ﬁona@example.com"),
        ("mike@example.com", "mike@ｅxample.com"),
        ("mike@fass.example", "mike@faß.example"),
        ("mike@faß.example", "mike@fass.example"),
    ],
)
def test_look_alike_address_links_nothing(vouch: Vouch, ours: str, theirs: str) -> None:
    local = make_member(email=ours)
    client = JSONClient(local)
    vouch(email=theirs)
    response = log_in()
    assert (response.data["created"], response.data["linked"]) == (True, False)
    assert response.data["member"]["id"] != local.pk
    local.refresh_from_db()
    assert local.has_usable_password()
    assert client.send("GET", "/api/auth/session").status_code == 200


@pytest.mark.django_db
def test_account_of_another_subject_is_never_linked(vouch: Vouch) -> None:
    other = make_member(email=EMAIL, idp_id="subject-other")
    vouch()
    response = log_in()
    assert response.data["created"] is True
    assert response.data["member"]["id"] != other.pk
    other.refresh_from_db()
    assert other.idp_id == "subject-other"
    assert other.has_usable_password()


@pytest.mark.django_db
@pytest.mark.parametrize("verified", ["false", "", "no", "1", False, 0, None, ["true"]])
def test_unverified_email_links_nothing(vouch: Vouch, verified: Any) -> None:
    local = make_member(email=EMAIL)
    vouch(email_verified=verified)
    response = log_in()
    assert response.data["created"] is True
    assert response.data["member"]["id"] != local.pk


@pytest.mark.django_db
@pytest.mark.parametrize("verified", ["true", "TRUE", True])
def test_verified_email_may_be_a_string_or_a_boolean(
    vouch: Vouch, verified: Any
) -> None:
    make_member(email=EMAIL)
    vouch(email_verified=verified)
    assert log_in().data["linked"] is True


@pytest.mark.django_db
def test_missing_email_links_no_account_without_one(vouch: Vouch) -> None:
    make_member(email="")
    vouch(email=None)
    assert log_in().data["created"] is True


@pytest.mark.django_db(transaction=True)
def test_linking_ends_the_password_and_all_other_sessions(vouch: Vouch) -> None:
    """A person who registered another's address first must not share the account."""
    member = make_member(email=EMAIL)
    squatters = [JSONClient(member), JSONClient(member)]
    for squatter in squatters:
        squatter.get_json("/api/auth/session")
    vouch()
    owner = JSONClient()
    owner.use_token(log_in().data["token"])
    assert owner.get_json("/api/auth/session")["id"] == member.pk
    for squatter in squatters:
        assert squatter.send("GET", "/api/auth/session").status_code == 401
    body = {"loginId": member.login_id, "password": PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 401
    assert AuthSession.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_session_that_came_by_cookie_ends_at_the_login(
    vouch: Vouch, other_member: Member
) -> None:
    planted = JSONClient(other_member).token
    client = JSONClient()
    client.cookies["sessionid"] = planted
    vouch()
    assert log_in(client).data["token"] != planted
    client.use_token(planted)
    assert client.send("GET", "/api/auth/session").status_code == 401


@pytest.mark.django_db
def test_later_logins_end_no_sessions(vouch: Vouch) -> None:
    vouch()
    client = JSONClient()
    client.use_token(log_in().data["token"])
    log_in()
    assert client.send("GET", "/api/auth/session").status_code == 200


# --- Suspended ------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("idp_id", ["subject-1", None])
def test_suspended_member_is_refused_and_not_changed(
    vouch: Vouch, idp_id: str | None
) -> None:
    member = make_member(email=EMAIL, idp_id=idp_id, status="SUSPENDED")
    vouch()
    response = log_in()
    assert (response.status_code, response.data["code"]) == (403, "MEMBER_SUSPENDED")
    member.refresh_from_db()
    assert (member.idp_id, member.idp_picture) == (idp_id, "")
    assert member.has_usable_password()
    assert Member.objects.count() == 1


# --- The token ------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "somebody.else"},
        {"aud": None},
        {"aud": [CLIENT_ID]},
        {"aud": CLIENT_ID + " "},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 256},
        {"sub": {"a": 1}},
        {"exp": None},
        {"exp": "soon"},
        {"exp": "1"},
        {"exp": "-1"},
        {"exp": "٣٣٣٣٣٣٣٣٣٣"},
    ],
)
def test_token_that_is_not_for_us_is_refused(
    vouch: Vouch, claims: dict[str, Any]
) -> None:
    make_member(email=EMAIL, idp_id="subject-1")
    vouch(**claims)
    response = log_in()
    assert (response.status_code, response.data["code"]) == (401, "INVALID_ID_TOKEN")
    assert not AuthSession.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "a\x00b"},
        {"email": "a\x00@b.c"},
        {"name": "a\x00b"},
        {"name": "a\ud800b"},
        {"picture": "https://a\x00b"},
    ],
)
def test_text_that_cannot_be_stored_does_no_harm(
    vouch: Vouch, claims: dict[str, Any]
) -> None:
    vouch(**claims)
    assert log_in().status_code in {200, 401, 502}


@pytest.mark.django_db
def test_expired_token_is_refused_but_clocks_may_differ_a_little(vouch: Vouch) -> None:
    vouch(exp=str(int(time.time()) - 60))
    assert log_in().status_code == 401
    vouch(exp=str(int(time.time()) - 3))
    assert log_in().status_code == 200


@pytest.mark.django_db
def test_both_names_of_the_issuer_are_known(vouch: Vouch) -> None:
    for issuer in ("accounts.google.com", "https://accounts.google.com"):
        vouch(iss=issuer)
        assert log_in().status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("token", [None, " ", 5, ["x"], "a\x00b", "x" * 8193])
def test_malformed_token_is_a_validation_error(
    token: Any, httpserver: HTTPServer
) -> None:
    response = log_in(token=token)
    assert (response.status_code, response.data["code"]) == (400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["idToken"]
    assert httpserver.log == []


# --- The provider ---------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_provider_that_refuses_makes_the_token_invalid(
    httpserver: HTTPServer, status: int
) -> None:
    httpserver.expect_request("/tokeninfo").respond_with_json(
        {"error": "invalid_token"}, status=status
    )
    response = log_in()
    assert (response.status_code, response.data["code"]) == (401, "INVALID_ID_TOKEN")


def redirect(request: Request) -> Response:
    return Response(status=302, headers={"Location": "/elsewhere"})


def sleep(request: Request) -> Response:
    time.sleep(1.2)
    return Response("{}")


def trickle(request: Request) -> Response:
    def drops() -> Any:
        for _ in range(12):
            time.sleep(0.1)
            yield b" " * 70_000

    return Response(drops(), mimetype="application/json")


FAILURES: dict[str, Any] = {
    "500": lambda request: Response("{}", status=500),
    "503": lambda request: Response("down", status=503),
    "429": lambda request: Response("{}", status=429),
    "html": lambda request: Response("<html>Sign in</html>", mimetype="text/html"),
    "empty": lambda request: Response(""),
    "list": lambda request: Response("[]"),
    "text": lambda request: Response('"yes"'),
    "deep": lambda request: Response("[" * 100_000),
    "broken utf-8": lambda request: Response(b'{"sub": "\xff\xfe"}'),
    "huge number": lambda request: Response('{"exp": ' + "9" * 5000 + "}"),
    "huge": lambda request: Response(json.dumps({"sub": "x" * 2**21})),
    "redirect": redirect,
    "slow": sleep,
    "trickle": trickle,
}


@pytest.mark.django_db
@pytest.mark.parametrize("failure", FAILURES)
def test_provider_that_fails_is_502(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    limits: Any = http_client.get.__kwdefaults__
    monkeypatch.setitem(limits, "seconds", 0.8)
    httpserver.expect_request("/tokeninfo").respond_with_handler(FAILURES[failure])
    httpserver.expect_request("/elsewhere").respond_with_json({"sub": "subject-1"})
    started = time.monotonic()
    response = log_in()
    assert response.status_code == 502
    assert response.data["code"] == "PROVIDER_UNAVAILABLE"
    assert time.monotonic() - started < 3
    assert all(request.path == "/tokeninfo" for request, _ in httpserver.log)
    assert not Member.objects.exists()


@pytest.mark.django_db
def test_provider_that_is_not_there_is_502(settings: Any, caplog: Any) -> None:
    settings.IDP_TOKENINFO_URL = f"http://127.0.0.1:{find_closed_port()}/tokeninfo"
    token = make_id_token()
    response = log_in(token=token)
    assert (response.status_code, response.data["code"]) == (
        502,
        "PROVIDER_UNAVAILABLE",
    )
    assert token not in response.content.decode() + caplog.text


@pytest.mark.django_db
def test_without_a_client_id_login_by_token_is_not_set_up(
    settings: Any, httpserver: HTTPServer
) -> None:
    settings.IDP_CLIENT_ID = ""
    response = log_in()
    assert (response.status_code, response.data["code"]) == (503, "IDP_NOT_CONFIGURED")
    assert httpserver.log == []
    assert JSONClient().get_json("/api/auth/idp-client-id") == {"clientId": ""}


@pytest.mark.django_db
def test_client_id_is_public() -> None:
    assert JSONClient().get_json("/api/auth/idp-client-id") == {"clientId": CLIENT_ID}


# --- Addresses that link nothing --------------------------------------------------


def change_email(client: JSONClient, email: str = EMAIL) -> None:
    response = client.send("PUT", "/api/auth/profile", {"email": email})
    assert response.status_code == 200


def assert_linking_refused(member: Member) -> None:
    """Log in by identity; nothing of the member changes, and nobody gets in."""
    before = Member.objects.values().get(pk=member.pk)
    sessions, members = AuthSession.objects.count(), Member.objects.count()
    response = log_in()
    assert_problem(response, 403, "LINKING_REFUSED")
    assert "sessionid" not in response.cookies
    assert Member.objects.values().get(pk=member.pk) == before
    counts = (AuthSession.objects.count(), Member.objects.count())
    assert counts == (sessions, members)


@pytest.mark.django_db
def test_new_address_links_nothing_for_seven_days(
    vouch: Vouch, free_member: Member
) -> None:
    """A stolen session could have changed it."""
    vouch()
    change_email(JSONClient(free_member))
    assert_linking_refused(free_member)
    with time_machine.travel(timezone.now()) as clock:
        clock.shift(timedelta(days=7, minutes=-5))
        assert_linking_refused(free_member)
        clock.shift(timedelta(minutes=6))
        assert log_in().data["linked"] is True


@pytest.mark.django_db
def test_address_that_was_sent_again_is_not_new(
    vouch: Vouch, free_member: Member
) -> None:
    change_email(JSONClient(free_member), free_member.email)
    vouch(email=free_member.email)
    assert log_in().data["linked"] is True


@pytest.mark.django_db
def test_stale_copy_of_the_member_does_not_hide_a_new_address(
    vouch: Vouch, free_member: Member
) -> None:
    change_email(JSONClient(free_member))
    free_member.email = EMAIL
    free_member.save()
    vouch()
    assert_linking_refused(Member.objects.get())


@pytest.mark.django_db
def test_administrator_is_never_linked(vouch: Vouch) -> None:
    vouch()
    assert_linking_refused(make_member(role="ADMIN", email=EMAIL))
    assert_linking_refused(make_idp_member(role="ADMIN", idp_id=None))


@pytest.mark.django_db
def test_linked_administrator_still_logs_in_by_subject(vouch: Vouch) -> None:
    member = make_member(role="ADMIN", email=EMAIL, idp_id="subject-1")
    vouch()
    assert log_in().data["member"]["id"] == member.pk


@pytest.mark.django_db
def test_account_that_may_be_linked_is_found_beside_one_that_may_not(
    vouch: Vouch, free_member: Member
) -> None:
    make_member(role="ADMIN", email=EMAIL)
    change_email(JSONClient(free_member))
    owner = make_member(email=EMAIL)
    vouch()
    assert log_in().data["member"]["id"] == owner.pk


@pytest.mark.django_db
def test_address_that_an_administrator_wrote_links_nothing_until_it_is_confirmed(
    vouch: Vouch, free_member: Member, administrator: Member
) -> None:
    staff, path = JSONClient(administrator), f"/api/users/{free_member.pk}"
    assert staff.send("PUT", path, {"email": EMAIL}).status_code == 200
    vouch()
    Member.objects.update(email_changed_at=timezone.now() - timedelta(days=30))
    assert_linking_refused(free_member)
    # The same again, by the administrator, confirms nothing.
    assert staff.send("PUT", path, {"email": EMAIL}).status_code == 200
    assert_linking_refused(free_member)
    change_email(JSONClient(free_member))
    assert_linking_refused(free_member)
    with time_machine.travel(timezone.now() + timedelta(days=7, minutes=1)):
        assert log_in().data["linked"] is True


@pytest.mark.django_db
def test_account_that_an_administrator_made_is_linked(
    vouch: Vouch, administrator: Member
) -> None:
    body = {"loginId": "minji", "password": PASSWORD, "displayName": "M"}
    made = JSONClient(administrator).send("POST", "/api/users", body | {"email": EMAIL})
    vouch()
    assert log_in().data["member"]["id"] == made.data["id"]


# --- Before the provider is asked ---------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    "token",
    [
        "opaque",
        "a.b",
        "a.b.c.d",
        "..",
        "an.id.token",
        "안.녕.요",
        "x" * 8192,
        encode_id_token([], {}),
        encode_id_token([], good_claims({})),
        encode_id_token(HEADER, ["claims"]),
        make_id_token({"alg": "none"}),
        make_id_token({"alg": "HS256", "typ": "JWT"}),
        make_id_token({"typ": "JWT"}),
        make_id_token({"alg": ["RS256"]}),
        make_id_token(aud="somebody.else"),
        make_id_token(aud=[CLIENT_ID]),
        make_id_token(aud=None),
        make_id_token(iss="https://evil.example"),
        make_id_token(exp="1"),
        make_id_token(exp=1),
        make_id_token(exp=None),
        make_id_token(sub=None),
    ],
)
def test_token_that_cannot_be_right_is_refused_without_asking(
    vouch: Vouch, httpserver: HTTPServer, token: str
) -> None:
    vouch()
    assert_problem(log_in(token=token), 401, "INVALID_ID_TOKEN")
    assert httpserver.log == []


@pytest.mark.django_db
def test_provider_at_another_address_may_have_opaque_tokens(
    vouch: Vouch, settings: Any
) -> None:
    vouch()
    settings.IDP_TOKENS_ARE_JWTS = False
    assert log_in(token="opaque").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("claimed", "sent", "status"),
    [
        ("n-1", "n-1", 200),
        ("n-1", "n-2", 401),
        ("n-1", "N-1", 401),
        (None, "n-1", 401),
        ("n-1", None, 200),
        (None, None, 200),
    ],
)
def test_nonce_that_is_sent_must_be_that_of_the_token(
    vouch: Vouch, claimed: str | None, sent: str | None, status: int
) -> None:
    token = vouch(nonce=claimed)
    fields: dict[str, Any] = {} if sent is None else {"nonce": sent}
    assert log_in(token=token, **fields).status_code == status


@pytest.mark.django_db
@pytest.mark.parametrize("nonce", ["", None, 5, "x" * 256, "a\x00b"])
def test_malformed_nonce_is_a_validation_error(vouch: Vouch, nonce: Any) -> None:
    response = log_in(token=vouch(nonce="n-1"), nonce=nonce)
    assert_problem(response, 400, "VALIDATION_ERROR")
    assert [error["field"] for error in response.data["errors"]] == ["nonce"]


@pytest.mark.django_db
def test_hundred_refused_tokens_of_one_address_are_enough(vouch: Vouch) -> None:
    token = vouch()
    for _ in range(100):
        assert log_in(token="opaque").status_code == 401
    response = log_in(token=token)
    assert_problem(response, 429, "RATE_LIMITED")
    assert int(response.headers["Retry-After"]) > 0
    elsewhere = JSONClient(REMOTE_ADDR="192.0.2.2")
    assert log_in(elsewhere, token).status_code == 200


@pytest.mark.django_db
def test_only_refused_tokens_count(vouch: Vouch, httpserver: HTTPServer) -> None:
    RateLimit.objects.all().delete()
    token = vouch()
    assert log_in(token=token).status_code == 200
    Member.objects.update(status="SUSPENDED")
    assert log_in(token=token).status_code == 403
    httpserver.clear()
    httpserver.expect_request("/tokeninfo").respond_with_data("down", status=503)
    assert log_in(token=token).status_code == 502
    assert not any(limit.attempts for limit in RateLimit.objects.all())


@pytest.mark.django_db
def test_address_that_is_too_long_is_not_cut_to_the_one_of_another(
    vouch: Vouch,
) -> None:
    address = f"mike@{'a' * 60}.{'b' * 60}.{'c' * 60}.{'d' * 58}.example"
    assert len(address) <= 254
    victim = make_member(email=address + "x" * (254 - len(address)))
    vouch(email=f"{victim.email}.evil.example")
    assert log_in().data["member"]["id"] != victim.pk
