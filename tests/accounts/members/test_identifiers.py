"""Login ids and addresses: one comparison in Python and in PostgreSQL."""

import sys

import pytest
from django.db import IntegrityError, connection

from accounts.identifiers import comparison_key, normalize_identifier
from accounts.models import Member
from tests.support.accounts import LOOK_ALIKES
from tests.support.factories import make_member


def read_generated_keys(texts: list[str]) -> list[str | None]:
    """Return what the expression of `member.email_normalized` makes of the texts."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef"
            " JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum"
            " WHERE adrelid = 'member'::regclass AND attname = 'email_normalized'"
        )
        (expression,) = cursor.fetchone()
        cursor.execute(
            f"SELECT {expression} FROM unnest(%s::text[])"
            " WITH ORDINALITY AS given (email, place) ORDER BY place",
            [texts],
        )
        return [key for (key,) in cursor.fetchall()]


def test_python_and_postgresql_make_the_same_key_of_every_character() -> None:
    surrogates = range(0xD800, 0xE000)
    texts = [
        f"A{chr(number)}z@Example.com"
        for number in range(1, sys.maxunicode + 1)
        if number not in surrogates
    ]
    keys = read_generated_keys(texts)
    assert len(keys) > 1_000_000
    assert keys == [comparison_key(text) for text in texts]


def test_generated_columns_follow_every_way_of_writing() -> None:
    member = make_member(login_id="Mike.1", email="Mike@Example.COM")
    rows = Member.objects.values_list("login_id_normalized", "email_normalized")
    assert rows.get() == ("mike.1", "mike@example.com")
    Member.objects.filter(pk=member.pk).update(login_id="MINJI", email="ſ@example.com")
    assert rows.get() == ("minji", None)


@pytest.mark.parametrize("look_alike", LOOK_ALIKES)
def test_look_alike_finds_nobody(look_alike: str) -> None:
    name = LOOK_ALIKES[look_alike]
    member = make_member(login_id=name, email=f"{name}@example.com")
    assert Member.objects.with_login_id(name.upper()).get() == member
    assert Member.objects.with_email(f"{name}@EXAMPLE.com").get() == member
    assert not Member.objects.with_login_id(look_alike).exists()
    assert not Member.objects.with_email(f"{look_alike}@example.com").exists()


@pytest.mark.parametrize("look_alike", LOOK_ALIKES)
def test_stored_look_alike_is_found_by_nobody(look_alike: str) -> None:
    make_member(email=f"{look_alike}@example.com")
    for text in (look_alike, LOOK_ALIKES[look_alike]):
        assert not Member.objects.with_email(f"{text}@example.com").exists()


@pytest.mark.parametrize("login_id", [*LOOK_ALIKES, "", "a b", "a\n", "a@b"])
def test_login_id_of_other_characters_cannot_be_stored(login_id: str) -> None:
    with pytest.raises(IntegrityError, match="member_login_id_characters"):
        make_member(login_id=login_id)


def test_compatible_texts_become_one() -> None:
    for text in ("SITEADMIN", "ſiteadmin", "ｓｉｔｅADMIN"):
        assert normalize_identifier(text) == "siteadmin"
    assert normalize_identifier("\u212aIM") == "kim"
    assert normalize_identifier("mıke") != "mike"
