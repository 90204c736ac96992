"""A deleted account leaves no data of the member, and all of others (spec 2.9)."""

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType

from accounts.models import Member
from tests.conftest import ClientOf
from tests.support.clients import JSONClient
from tests.support.factories import PASSWORD, count_rows_of
from tests.support.whole_accounts import give_everything

PATH = "/api/auth/me"
ME = "/api/auth/session"


def test_every_table_that_names_a_member_is_covered(free_member: Member) -> None:
    give_everything(free_member)
    empty = [table for table, rows in count_rows_of(free_member).items() if not rows]
    assert empty == []


def test_nothing_of_the_member_remains(free_member: Member, client: JSONClient) -> None:
    give_everything(free_member)
    response = client.send("DELETE", PATH)
    assert (response.status_code, response.content) == (204, b"")
    assert not any(count_rows_of(free_member).values())
    assert not Member.objects.filter(pk=free_member.pk).exists()


def test_nothing_of_other_members_is_deleted(
    free_member: Member, other_member: Member, client: JSONClient
) -> None:
    give_everything(free_member)
    give_everything(other_member)
    before = count_rows_of(other_member)
    assert client.send("DELETE", PATH).status_code == 204
    assert count_rows_of(other_member) == before
    assert Member.objects.filter(pk=other_member.pk).exists()
    assert not Member.objects.filter(pk=free_member.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_all_sessions_are_dead_and_the_cookie_is_taken_back(
    free_member: Member, client_of: ClientOf
) -> None:
    here, phone = client_of(free_member), client_of(free_member)
    for client in (here, phone):
        client.get_json(ME)
    response = here.send("DELETE", PATH)
    assert response.cookies["sessionid"].value == ""
    assert here.send("GET", ME).status_code == 401
    assert phone.send("GET", ME).status_code == 401
    assert here.send("DELETE", PATH).status_code == 401


def test_login_is_gone_and_its_id_is_free_again(
    free_member: Member, client: JSONClient
) -> None:
    client.send("DELETE", PATH)
    body = {"loginId": free_member.login_id, "password": PASSWORD}
    assert JSONClient().send("POST", "/api/auth/login", body).status_code == 401
    profile = {"displayName": "Again", "email": "again@example.com"}
    response = JSONClient().send("POST", "/api/auth/signup", body | profile)
    assert response.status_code == 201
    assert response.data["member"]["id"] != free_member.pk


def test_administrator_who_worked_in_the_admin_can_leave(
    administrator: Member, client_of: ClientOf
) -> None:
    LogEntry.objects.create(
        user_id=administrator.pk,
        content_type=ContentType.objects.get_for_model(Member),
        object_id="1",
        object_repr="x",
        action_flag=CHANGE,
    )
    assert client_of(administrator).send("DELETE", PATH).status_code == 204
    assert not Member.objects.exists()
    assert not LogEntry.objects.filter(user_id=administrator.pk).exists()


def test_member_is_not_left_half_deleted_by_a_failure(
    free_member: Member, client: JSONClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_everything(free_member)
    client.get_json(ME)
    before = count_rows_of(free_member)

    def fail(*_: object) -> None:
        raise RuntimeError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr("accounts.account_deletion.revoke_sessions", fail)
        assert client.send("DELETE", PATH).status_code == 500
    assert count_rows_of(free_member) == before
    assert client.send("GET", ME).status_code == 200
