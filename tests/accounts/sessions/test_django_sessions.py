"""Django's own sessions, as those of the admin, are the same rows."""

import pytest
from django.contrib.sessions.backends.base import UpdateError

from accounts.models import AuthSession, Member
from accounts.sessions.store import (
    SessionStore,
    create_session,
    hash_session_key,
    revoke_session,
)
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, make_member
from tests.support.sessions import COOKIE, ME, by_cookie, log_in, status_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_admin_login_makes_a_session_like_any_other(administrator: Member) -> None:
    browser = JSONClient()
    form = {"username": administrator.login_id, "password": PASSWORD}
    response = browser.post("/admin/login/?next=/admin/", form)
    assert (response.status_code, response.headers["Location"]) == (302, "/admin/")
    row = AuthSession.objects.get()
    assert (row.member, row.display_name) == (administrator, administrator.display_name)
    assert browser.get("/admin/").status_code == 200
    phone = JSONClient()
    phone.use_token(browser.cookies[COOKIE].value)
    assert phone.get_json(ME)["id"] == administrator.pk


def test_api_session_opens_the_admin(administrator: Member) -> None:
    assert by_cookie(administrator).get("/admin/").status_code == 200


def test_logout_of_the_api_closes_the_admin(administrator: Member) -> None:
    browser = by_cookie(administrator)
    phone = JSONClient()
    phone.use_token(browser.cookies[COOKIE].value)
    assert browser.get("/admin/").status_code == 200
    phone.send("POST", "/api/auth/logout")
    assert browser.get("/admin/").status_code == 302


def test_admin_logout_ends_the_session_in_both_stores(administrator: Member) -> None:
    browser = by_cookie(administrator)
    key = browser.cookies[COOKIE].value
    assert status_of(browser) == 200
    assert browser.post("/admin/logout/").status_code == 200
    phone = JSONClient()
    phone.use_token(key)
    assert status_of(phone) == 401


@pytest.mark.parametrize("fields", [{"role": "MEMBER"}, {"status": "SUSPENDED"}])
def test_others_do_not_get_into_the_admin(fields: dict[str, str]) -> None:
    member = make_member(**{"role": "ADMIN"} | fields)
    browser = JSONClient()
    form = {"username": member.login_id, "password": PASSWORD}
    assert browser.post("/admin/login/", form).status_code == 200
    assert browser.get("/admin/").status_code == 302
    assert by_cookie(member).get("/admin/").status_code == 302


def test_admin_login_has_the_same_limit(administrator: Member) -> None:
    browser = JSONClient()
    form = {"username": administrator.login_id, "password": "wrong-battery-8"}
    for _ in range(10):
        assert browser.post("/admin/login/", form).status_code == 200
    answer = browser.post("/admin/login/", form | {"password": PASSWORD})
    assert answer.status_code == 200
    assert b"Too many attempts" in answer.content
    assert log_in(JSONClient(), administrator).status_code == 429


def test_saving_a_revoked_session_does_not_restore_it(administrator: Member) -> None:
    key = create_session(administrator)[0]
    store = SessionStore(key)
    store["note"] = "kept"
    revoke_session(hash_session_key(key))
    with pytest.raises(UpdateError):
        store.save()
    assert not AuthSession.objects.exists()


def test_session_data_survive_in_both_stores() -> None:
    store = SessionStore()
    store["note"] = "안녕"
    store.save()
    key = store.session_key
    assert key
    for _ in ("row", "copy"):
        assert SessionStore(key)["note"] == "안녕"
    changed = SessionStore(key)
    changed["note"] = "other"
    changed.save()
    assert SessionStore(key)["note"] == "other"


def test_store_does_not_adopt_a_key_it_does_not_know() -> None:
    store = SessionStore("chosen")
    assert dict(store.items()) == {}
    store["note"] = "kept"
    store.save()
    assert store.session_key != "chosen"
    assert not store.exists("chosen")
