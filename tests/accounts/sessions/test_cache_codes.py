"""Cached sessions are authenticated: access to Valkey opens no account."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.core.cache import cache
from django.utils import timezone
from django_redis.serializers.json import JSONSerializer

from accounts.models import Member
from accounts.sessions.store import hash_session_key
from config.celery import app
from tests.support.clients import JSONClient
from tests.support.sessions import ME, warm_up
from tests.support.stores import ValkeyServer

pytestmark = pytest.mark.django_db(transaction=True)


def key_of(client: JSONClient) -> str:
    return f"session:{hash_session_key(client.token)}"


def make_up_entry(member: Member) -> bytes:
    """Return the JSON of an entry that gives the member's rights, as ADMIN."""
    return orjson.dumps(
        {
            "readAt": timezone.now().timestamp(),
            "expiresAt": timezone.now() + timedelta(days=1),
            "data": {},
            "member": [member.pk, "x", "x", "ADMIN", "ACTIVE", "FREE", None, False],
        }
    )


@pytest.mark.parametrize("mac", [b"", b"\0" * 16, b"x" * 16])
def test_entry_that_was_made_up_lets_nobody_in(
    administrator: Member, own_valkey: ValkeyServer, mac: bytes
) -> None:
    thief = JSONClient()
    thief.use_token("made-up")
    own_valkey.run("SET", key_of(thief), b"1:" + mac + make_up_entry(administrator))
    assert thief.send("GET", ME).status_code == 401


def test_entry_that_was_changed_is_read_from_the_row_and_written_again(
    free_member: Member, own_valkey: ValkeyServer, django_assert_num_queries: Any
) -> None:
    client = warm_up(free_member)
    entry = own_valkey.run("GET", key_of(client))
    changed = entry.replace(b'"MEMBER"', b'"ADMIN"')
    assert changed != entry
    own_valkey.run("SET", key_of(client), changed)
    with django_assert_num_queries(1):
        assert client.get_json(ME)["role"] == "MEMBER"
    with django_assert_num_queries(0):
        assert client.get_json(ME)["role"] == "MEMBER"


def test_entry_of_another_session_is_not_taken(
    free_member: Member, administrator: Member, own_valkey: ValkeyServer
) -> None:
    client, other = warm_up(free_member), warm_up(administrator)
    own_valkey.run("SET", key_of(client), own_valkey.run("GET", key_of(other)))
    assert client.get_json(ME)["id"] == free_member.pk


def test_entries_stay_valid_over_a_new_key_while_the_old_one_is_a_fallback(
    free_member: Member,
    own_valkey: ValkeyServer,
    settings: Any,
    django_assert_num_queries: Any,
) -> None:
    client = warm_up(free_member)
    old = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new" * 20, ["x" * 50, old]
    with django_assert_num_queries(0):
        client.get_json(ME)
    settings.SECRET_KEY_FALLBACKS = []
    with django_assert_num_queries(1):
        client.get_json(ME)


def test_nothing_in_valkey_is_unpickled() -> None:
    backend: Any = cache
    assert isinstance(backend.client._serializer, JSONSerializer)
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"
