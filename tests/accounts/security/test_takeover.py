"""Scenarios of takeovers: what an intruder does, and whether they get in again.

Each scenario is what an intruder does with a look-alike, a stolen session, a mailbox, a
device, an account at the provider, or as staff. Then all sessions of the victim end, as
when the owner throws everybody out. The intruder tries every password and every ID token
that they have; none may open the account, and nothing that opens it may have changed.
"""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_httpserver import HTTPServer

from accounts.models import AuthSession, Member
from accounts.sessions.store import revoke_sessions
from tests.support.accounts import LOOK_ALIKES, PROFILE
from tests.support.admin_site import MEMBERS, logged_in_browser
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.id_tokens import fake_provider_at
from tests.support.second_factors import (
    TOTP,
    code_now,
    complete_login,
    get_ticket,
    give_totp,
)
from tests.support.takeover_scene import (
    ME,
    OWN_ADDRESS,
    OWN_PASSWORD,
    SCENARIOS,
    Scene,
    scenario,
)

pytestmark = pytest.mark.django_db(transaction=True)


def add_look_alikes(look_alike: str, name: str) -> None:
    @scenario(f"address {look_alike!a}")
    def log_in_with_the_address(scene: Scene) -> None:
        scene.set_victim(email=f"{name}@example.com")
        scene.have_identity(email=f"{look_alike}@example.com")

    @scenario(f"login id {look_alike!a}", "MEMBER")
    def sign_up_with_the_login_id(scene: Scene) -> None:
        scene.set_victim(login_id=name)
        scene.login_ids.append(look_alike)
        body = {"loginId": look_alike, "password": OWN_PASSWORD, "displayName": "M"}
        response = JSONClient().send(
            "POST", "/api/auth/signup", body | {"email": OWN_ADDRESS}
        )
        assert response.status_code == 400


for each, looks_like in LOOK_ALIKES.items():
    add_look_alikes(each, looks_like)


def add_domain(theirs: str, ours: str) -> None:
    @scenario(f"domain {theirs!a}", "MEMBER")
    def log_in_with_the_domain(scene: Scene) -> None:
        scene.set_victim(email=f"mike@{ours}")
        scene.have_identity(email=f"mike@{theirs}")


add_domain("ｅxample.com", "example.com")
add_domain("faß.example", "fass.example")
add_domain("example.com.evil.example", "example.com")


@scenario("guesses by variants of the login id")
def guess_by_variants(scene: Scene) -> None:
    scene.set_victim(login_id="siteadmin")
    for variant in ("siteadmin", "SITEADMIN", "ſiteadmin", "ｓiteadmin", "sİteadmin"):
        for _ in range(3):
            body = {"loginId": variant, "password": OWN_PASSWORD}
            JSONClient().send("POST", "/api/auth/login", body)
    # The limit is reached: even the right password, guessed now, is refused.
    scene.passwords.append(PASSWORD)
    scene.login_ids += ["ſiteadmin", "SITEADMIN"]


def change_address(scene: Scene) -> None:
    response = scene.steal_session().send("PUT", PROFILE, {"email": OWN_ADDRESS})
    assert response.status_code == 200
    scene.have_identity(email=OWN_ADDRESS)


scenario("stolen session links a new address")(change_address)


@scenario("stolen session changes the address and waits")
def change_address_and_wait(scene: Scene) -> None:
    change_address(scene)
    scene.days = 60


@scenario("stolen session writes the address back and forth")
def change_address_twice(scene: Scene) -> None:
    change_address(scene)
    client = scene.steal_session()
    client.send("PUT", PROFILE, {"email": scene.victim.email})
    client.send("PUT", PROFILE, {"email": OWN_ADDRESS.upper()})


@scenario("stolen session links before it is thrown out")
def link_while_it_lives(scene: Scene) -> None:
    change_address(scene)
    list(scene.try_ways_in())


@scenario("stolen session sets a password alone")
def set_password_alone(scene: Scene) -> None:
    body = {"newPassword": OWN_PASSWORD}
    scene.steal_session().send("PUT", "/api/auth/password", body)


@scenario("stolen session guesses the current password")
def guess_current_password(scene: Scene) -> None:
    client = scene.steal_session()
    guesses = [*(f"guess-number-{n}" for n in range(10)), PASSWORD]
    for guess in guesses:
        body = {"currentPassword": guess, "newPassword": OWN_PASSWORD}
        client.send("PUT", "/api/auth/password", body)


@scenario("stolen session guesses by verifying")
def guess_by_verifying(scene: Scene) -> None:
    client = scene.steal_session()
    for n in range(10):
        body = {"password": f"guess-number-{n}"}
        client.send("POST", "/api/auth/verify-password", body)
    body = {"password": PASSWORD}
    response = client.send("POST", "/api/auth/verify-password", body)
    assert response.status_code == 429


@scenario("stolen session writes what is not its to write")
def write_identity_fields(scene: Scene) -> None:
    body = {"idpId": "intruder", "idp_id": "intruder", "password": OWN_PASSWORD}
    body |= {"loginId": "intruder", "provider": "IDP", "role": "ADMIN"}
    scene.steal_session().send("PUT", PROFILE, body)
    scene.have_identity(email=OWN_ADDRESS)
    scene.login_ids.append("intruder")


@scenario("other site changes the address by the cookie")
def change_address_across_sites(scene: Scene) -> None:
    scene.set_victim(email="owner@example.com")
    browser = JSONClient()
    browser.cookies["sessionid"] = JSONClient(scene.victim).token
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    response = browser.send("PUT", PROFILE, {"email": OWN_ADDRESS}, headers=headers)
    assert response.status_code == 403
    scene.have_identity(email=OWN_ADDRESS)
    scene.days = 30


@scenario("hash of the session key out of the database")
def use_stored_hash(scene: Scene) -> None:
    scene.steal_session()
    scene.tokens = list(AuthSession.objects.values_list("key_hash", flat=True))


@scenario("session planted in the owner's browser")
def plant_session(scene: Scene) -> None:
    browser = JSONClient()
    browser.cookies["sessionid"] = planted = JSONClient(make_member()).token
    body = {"loginId": scene.victim.login_id, "password": PASSWORD}
    assert browser.send("POST", "/api/auth/login", body).status_code == 200
    scene.tokens.append(planted)


@scenario("device after a logout")
def keep_token_after_logout(scene: Scene) -> None:
    client = scene.steal_session()
    assert client.send("POST", "/api/auth/logout").status_code == 204
    assert client.send("GET", ME).status_code == 401


@scenario("device after a new password")
def keep_token_after_new_password(scene: Scene) -> None:
    thief, owner = scene.steal_session(), JSONClient(scene.victim)
    body = {"currentPassword": PASSWORD, "newPassword": "owners-horse-9"}
    assert owner.send("PUT", "/api/auth/password", body).status_code == 204
    assert thief.send("GET", ME).status_code == 401
    scene.victim.refresh_from_db()
    scene.passwords.append(PASSWORD)


@scenario("device after the owner ended other sessions")
def keep_token_after_end_others(scene: Scene) -> None:
    thief, owner = scene.steal_session(), JSONClient(scene.victim)
    owner.send("POST", "/api/auth/sessions/end-others")
    assert thief.send("GET", ME).status_code == 401


@scenario("device that was not used for two weeks")
def keep_unused_token(scene: Scene) -> None:
    scene.steal_session()
    scene.days = 15


@scenario("device of a suspended member", "MEMBER")
def keep_token_of_suspended(scene: Scene) -> None:
    scene.steal_session()
    scene.set_victim(status="SUSPENDED")
    scene.passwords.append(PASSWORD)


@scenario("mailbox that the owner has left")
def take_over_old_mailbox(scene: Scene) -> None:
    old = scene.victim.email
    body = {"email": "new-home@example.com"}
    assert JSONClient(scene.victim).send("PUT", PROFILE, body).status_code == 200
    scene.have_identity(email=old)
    scene.days = 60


@scenario("mailbox of a linked account")
def take_over_mailbox_of_linked(scene: Scene) -> None:
    scene.set_victim(idp_id="owner")
    scene.have_identity(email=scene.victim.email)


@scenario("mailbox of an account of the provider")
def take_over_mailbox_of_idp(scene: Scene) -> None:
    scene.set_victim(idp_id="owner", provider="IDP", password="!unusable")
    scene.have_identity(email=scene.victim.email)


@scenario("mailbox of an administrator", "ADMIN")
def take_over_mailbox_of_administrator(scene: Scene) -> None:
    scene.have_identity(email=scene.victim.email)
    scene.days = 60


@scenario("address that the provider has not verified")
def claim_unverified_address(scene: Scene) -> None:
    for word in ("false", "", "1", None):
        scene.have_identity(email=scene.victim.email, email_verified=word)


@scenario("address with more around it")
def decorate_address(scene: Scene) -> None:
    scene.set_victim(email="mike@example.com")
    for address in ("mike+x@example.com", "m.ike@example.com", '"mike"@example.com'):
        scene.have_identity(sub=address, email=address)
    scene.have_identity(sub="list", email=["mike@example.com"])
    scene.have_identity(sub="newline", email="mike@example.com\n")


@scenario("account without an address", "MEMBER")
def claim_missing_address(scene: Scene) -> None:
    scene.set_victim(email="")
    scene.have_identity(email=None)
    scene.have_identity(sub="empty", email="")


def add_bad_token(name: str, header: Any = None, **claims: Any) -> None:
    @scenario(f"token {name}")
    def present_token(scene: Scene) -> None:
        scene.set_victim(idp_id="owner")
        scene.have_identity(header, **({"sub": "owner"} | claims))


add_bad_token("for another app", aud="other.apps.example")
add_bad_token("of another issuer", iss="https://accounts.evil.example")
add_bad_token("that has expired", exp="1000000000")
add_bad_token("without a signature", header={"alg": "none"})
add_bad_token("signed with the public key", header={"alg": "HS256"})
add_bad_token("of a similar subject", sub="OWNER")
add_bad_token("of a subject with a blank", sub="owner ")


@scenario("token that was made for another login")
def replay_token_with_other_nonce(scene: Scene) -> None:
    scene.set_victim(idp_id="owner")
    token = scene.vouch(sub="owner", nonce="of-another-login")
    body = {"idToken": token, "nonce": "of-this-login"}
    assert JSONClient().send("POST", "/api/auth/idp", body).status_code == 401


@scenario("squatter registered the address first", "MEMBER")
def register_address_first(scene: Scene) -> None:
    """Let the intruder make the account before the owner of the address comes."""
    scene.steal_session()
    token = scene.vouch(sub="owner", email=scene.victim.email)
    response = JSONClient().send("POST", "/api/auth/idp", {"idToken": token})
    assert response.data["linked"] is True
    scene.victim.refresh_from_db()
    scene.passwords.append(PASSWORD)
    scene.have_identity(email=scene.victim.email)


IDENTITIES = "/api/auth/identities"


@scenario("stolen session links an identity from within")
def link_from_within(scene: Scene) -> None:
    token = scene.vouch(sub="intruder", email=OWN_ADDRESS)
    response = scene.steal_session().send("POST", IDENTITIES, {"idToken": token})
    assert response.status_code == 403
    scene.have_identity(email=OWN_ADDRESS)


@scenario("stolen session removes the owner's identity", "MEMBER")
def remove_identity_of_owner(scene: Scene) -> None:
    scene.set_victim(idp_id="owner")
    response = scene.steal_session().send("DELETE", f"{IDENTITIES}/google")
    assert response.status_code == 403
    scene.have_identity(email=scene.victim.email)


@scenario("identity that the owner has removed", "MEMBER")
def use_removed_identity(scene: Scene) -> None:
    """Let the owner be rid of an identity, whose address is theirs."""
    email = scene.victim.email
    token = scene.vouch(sub="intruder", email=email)
    scene.set_victim(verified_email=email)
    owner = JSONClient(scene.victim)
    assert owner.send("POST", IDENTITIES, {"idToken": token}).status_code == 201
    intruder = JSONClient()
    response = intruder.send("POST", "/api/auth/idp", {"idToken": token})
    scene.tokens.append(response.data["token"])
    assert owner.send("DELETE", f"{IDENTITIES}/google").status_code == 204
    scene.victim.refresh_from_db()
    scene.have_identity(email=email)


@scenario("identity of the address without the second factor", "MEMBER")
def log_in_without_factor(scene: Scene) -> None:
    give_totp(scene.victim)
    scene.have_identity(email=scene.victim.email)
    scene.passwords.append(PASSWORD)


@scenario("password and stolen session take the second factor away", "MEMBER")
def remove_factor_by_password(scene: Scene) -> None:
    give_totp(scene.victim)
    client = scene.steal_session()
    body = {"password": PASSWORD}
    assert client.send("POST", "/api/auth/verify-password", body).status_code == 200
    assert client.send("DELETE", TOTP).status_code == 403
    assert client.send("POST", TOTP).status_code == 403
    scene.passwords.append(PASSWORD)


@scenario("ticket from before a suspension that is lifted", "MEMBER")
def keep_ticket_over_suspension(scene: Scene) -> None:
    give_totp(scene.victim)
    ticket, staff = get_ticket(scene.victim), staff_client()
    for status in ("SUSPENDED", "ACTIVE"):
        path = f"/api/admin/members/{scene.victim.pk}/status"
        assert staff.send("PUT", path, {"status": status}).status_code == 200
    assert complete_login(ticket, code_now()).status_code == 400
    scene.passwords.append(PASSWORD)


def staff_client() -> JSONClient:
    return JSONClient(make_member(role="ADMIN"))


def write_address_by_staff(scene: Scene) -> None:
    path = f"/api/users/{scene.victim.pk}"
    response = staff_client().send("PUT", path, {"email": OWN_ADDRESS})
    assert response.status_code == (403 if scene.victim.is_administrator else 200)
    scene.have_identity(email=OWN_ADDRESS)


scenario("staff write the address")(write_address_by_staff)


@scenario("staff write the address and wait")
def write_address_by_staff_and_wait(scene: Scene) -> None:
    write_address_by_staff(scene)
    scene.days = 60


@scenario("staff demote, write the address and wait", "ADMIN")
def demote_and_write_address(scene: Scene) -> None:
    path = f"/api/admin/members/{scene.victim.pk}/role"
    assert staff_client().send("PUT", path, {"role": "MEMBER"}).status_code == 200
    scene.victim.refresh_from_db()
    write_address_by_staff(scene)
    scene.days = 60


@scenario("staff write fields that are not theirs")
def write_fields_by_staff(scene: Scene) -> None:
    body = {"password": OWN_PASSWORD, "idpId": "intruder", "loginId": "intruder"}
    staff_client().send("PUT", f"/api/users/{scene.victim.pk}", body)
    scene.have_identity(email=OWN_ADDRESS)
    scene.login_ids.append("intruder")


@scenario("staff use the pages of Django admin")
def use_django_admin(scene: Scene) -> None:
    browser = logged_in_browser(make_member(role="ADMIN"))
    page = f"{MEMBERS}{scene.victim.pk}"
    form = {"email": OWN_ADDRESS, "password": OWN_PASSWORD, "idp_id": "intruder"}
    form |= {"password1": OWN_PASSWORD, "password2": OWN_PASSWORD}
    for path in (f"{page}/change/", f"{page}/password/", f"{page}/delete/"):
        assert browser.post(path, form).status_code in {302, 403, 404}
    scene.have_identity(email=OWN_ADDRESS)
    scene.days = 60


@scenario("staff who were demoted write the address")
def write_address_after_demotion(scene: Scene) -> None:
    former = make_member(role="ADMIN")
    client = JSONClient(former)
    path = f"/api/admin/members/{former.pk}/role"
    assert staff_client().send("PUT", path, {"role": "MEMBER"}).status_code == 200
    path = f"/api/users/{scene.victim.pk}"
    assert client.send("PUT", path, {"email": OWN_ADDRESS}).status_code == 403
    scene.have_identity(email=OWN_ADDRESS)
    scene.days = 60


@pytest.mark.parametrize("name", SCENARIOS)
def test_intruder_does_not_get_in(
    settings: Any, httpserver: HTTPServer, name: str
) -> None:
    role, run = SCENARIOS[name]
    scene = Scene(make_member(role=role), fake_provider_at(settings, httpserver))
    run(scene)
    revoke_sessions(scene.victim)
    before = Member.objects.values("password", "idp_id", "login_id").get(
        pk=scene.victim.pk
    )
    assert before["idp_id"] != "intruder"
    with time_machine.travel(timezone.now() + timedelta(days=scene.days)):
        responses = list(scene.try_ways_in())
    assert responses
    for response in responses:
        member = (response.data or {}).get("member", response.data or {})
        assert member.get("id") != scene.victim.pk, response.content
    assert not AuthSession.objects.filter(member=scene.victim).exists()
    rows = Member.objects.values("password", "idp_id", "login_id")
    assert rows.get(pk=scene.victim.pk) == before


def test_table_has_the_scenarios_of_both_roles() -> None:
    roles = [role for role, _ in SCENARIOS.values()]
    assert len(SCENARIOS) >= 60
    assert min(roles.count("MEMBER"), roles.count("ADMIN")) >= 25


def test_owner_gets_in_where_the_intruder_does_not(
    settings: Any, httpserver: HTTPServer
) -> None:
    # The ways that are tried are ways in.
    scene = Scene(make_member(), fake_provider_at(settings, httpserver))
    scene.passwords = [PASSWORD]
    scene.steal_session()
    scene.have_identity(sub="owner", email=scene.victim.email)
    opened = [
        (response.data.get("member") or response.data).get("id")
        for response in scene.try_ways_in()
    ]
    # Linking has ended the session that the tokens are of.
    assert opened[:2] == [scene.victim.pk] * 2
