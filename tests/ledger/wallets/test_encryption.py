"""Account numbers at rest: AES-256-GCM, keys that come, change and go missing."""

import base64
import logging
from typing import Any

import pytest

from accounts.models import Member
from ledger.base import encryption
from ledger.base.encryption import DecryptionError, decrypt, encrypt
from ledger.models import Wallet
from tests.support.clients import JSONClient
from tests.support.factories import make_wallet

WALLETS = "/api/account/wallets"
NUMBER = "110-123-456789"
KEY, OTHER_KEY = bytes(range(32)), bytes(range(32, 64))


@pytest.fixture
def client(free_member: Member) -> JSONClient:
    return JSONClient(free_member)


@pytest.fixture
def sealed(settings: Any) -> None:
    """Set a key."""
    settings.ACCOUNT_NUMBER_KEYS = [KEY]


def write(client: JSONClient, **fields: Any) -> Any:
    body = {"name": "Bank", "kind": "BANK", "accountNumber": NUMBER} | fields
    response = client.send("POST", WALLETS, body)
    assert response.status_code == 201, response.content
    return response.data


def stored_number(wallet_id: Any) -> Any:
    return Wallet.objects.get(pk=wallet_id).encrypted_account_number


# --- the cipher ---------------------------------------------------------------


def test_sealed_number_opens_to_itself() -> None:
    for text in (NUMBER, "1", "가나다 1234", "x" * encryption.MAX_PLAINTEXT_BYTES):
        assert decrypt(encrypt(text, [KEY], "account:1"), [KEY], "account:1") == text


def test_each_sealing_has_a_fresh_nonce() -> None:
    values = {encrypt(NUMBER, [KEY], "account:1") for _ in range(50)}
    assert len(values) == 50


def test_value_is_nonce_ciphertext_and_tag_of_256_bit_gcm() -> None:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    stored = encrypt(NUMBER, [KEY], "account:1")
    raw = base64.urlsafe_b64decode(stored.removeprefix(encryption.ENCRYPTED_PREFIX))
    assert len(raw) == 12 + len(NUMBER) + 16
    assert AESGCM(KEY).decrypt(raw[:12], raw[12:], b"account:1").decode() == NUMBER


def test_key_of_another_length_is_refused() -> None:
    for length in (0, 15, 31, 33, 64):
        with pytest.raises(ValueError, match="key"):
            encrypt(NUMBER, [bytes(length)], "account:1")


@pytest.mark.parametrize("position", [0, 12, 20, -1])
def test_any_changed_byte_makes_a_value_unreadable(position: int) -> None:
    stored = encrypt(NUMBER, [KEY], "account:1")
    raw = bytearray(
        base64.urlsafe_b64decode(stored.removeprefix(encryption.ENCRYPTED_PREFIX))
    )
    raw[position] ^= 1
    forged = encryption.ENCRYPTED_PREFIX + base64.urlsafe_b64encode(raw).decode()
    with pytest.raises(DecryptionError):
        decrypt(forged, [KEY], "account:1")


@pytest.mark.parametrize(
    "rest", ["", "A", "AAAA", "!!!!", "가", "=", "A" * 16, "A" * 40, "A" * 41]
)
def test_broken_value_is_unreadable(rest: str) -> None:
    with pytest.raises(DecryptionError):
        decrypt(encryption.ENCRYPTED_PREFIX + rest, [KEY], "account:1")


def test_value_of_another_context_is_unreadable() -> None:
    stored = encrypt(NUMBER, [KEY], "account:1")
    with pytest.raises(DecryptionError):
        decrypt(stored, [KEY], "account:2")


def test_sealed_value_without_any_key_is_unreadable() -> None:
    with pytest.raises(DecryptionError):
        decrypt(encrypt(NUMBER, [KEY], "account:1"), [], "account:1")


def test_older_keys_still_open_and_the_first_one_seals() -> None:
    old = encrypt(NUMBER, [OTHER_KEY], "account:1")
    assert decrypt(old, [KEY, OTHER_KEY], "account:1") == NUMBER
    new = encrypt(NUMBER, [KEY, OTHER_KEY], "account:1")
    assert decrypt(new, [KEY], "account:1") == NUMBER


# --- wallets ------------------------------------------------------------------


def test_number_is_stored_plain_while_no_key_is_set(
    client: JSONClient, settings: Any
) -> None:
    settings.ACCOUNT_NUMBER_KEYS = []
    wallet = write(client)
    assert wallet["accountNumber"] == NUMBER
    assert stored_number(wallet["id"]) == NUMBER


def test_plain_number_stays_readable_after_a_key_is_set(
    client: JSONClient, settings: Any
) -> None:
    settings.ACCOUNT_NUMBER_KEYS = []
    wallet = write(client)
    settings.ACCOUNT_NUMBER_KEYS = [KEY]
    read = client.get_json(f"{WALLETS}/{wallet['id']}")
    assert read == wallet
    assert client.send("PUT", f"{WALLETS}/{wallet['id']}", read).data == wallet
    assert NUMBER not in stored_number(wallet["id"])


@pytest.mark.usefixtures("sealed")
def test_stored_column_never_holds_the_plain_text(client: JSONClient) -> None:
    wallet = write(client)
    assert wallet["accountNumber"] == NUMBER
    stored = stored_number(wallet["id"])
    raw = base64.urlsafe_b64decode(stored.removeprefix(encryption.ENCRYPTED_PREFIX))
    assert NUMBER not in stored
    for part in (b"110", b"123", b"456789"):
        assert part not in raw
    assert len(stored) <= 255


@pytest.mark.usefixtures("sealed")
def test_same_number_of_two_wallets_is_stored_differently(client: JSONClient) -> None:
    first, second = write(client), write(client, name="Second")
    assert stored_number(first["id"]) != stored_number(second["id"])


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize("character", ["1", "가"])
def test_longest_number_that_is_accepted_fits_the_column(
    client: JSONClient, character: str
) -> None:
    longest = 0
    for length in range(1, 70):
        body = {
            "name": f"{length}",
            "kind": "BANK",
            "accountNumber": character * length,
        }
        response = client.send("POST", WALLETS, body)
        if response.status_code == 400:
            break
        longest = length
        assert response.status_code == 201, response.content
        assert response.data["accountNumber"] == character * length
        assert len(stored_number(response.data["id"])) <= 255
    assert longest >= 34, "an IBAN has 34 characters"
    assert response.status_code == 400
    assert response.data["errors"][0]["field"] == "accountNumber"


@pytest.mark.usefixtures("sealed")
def test_wallet_without_a_number_stores_nothing(client: JSONClient) -> None:
    wallet = write(client, accountNumber=None)
    assert wallet["accountNumber"] is None
    assert stored_number(wallet["id"]) == ""


def test_number_that_looks_like_a_sealed_one_is_refused(
    client: JSONClient, settings: Any
) -> None:
    settings.ACCOUNT_NUMBER_KEYS = []
    body = {
        "name": "A",
        "kind": "BANK",
        "accountNumber": encryption.ENCRYPTED_PREFIX + "x",
    }
    response = client.send("POST", WALLETS, body)
    assert response.status_code == 400
    assert response.data["errors"][0]["field"] == "accountNumber"


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize("keys", [[OTHER_KEY], []], ids=["wrong key", "no key"])
def test_wrong_key_is_null_with_a_mark_and_an_error_in_the_log(
    client: JSONClient, settings: Any, caplog: pytest.LogCaptureFixture, keys: list[Any]
) -> None:
    wallet = write(client)
    plain = write(client, name="None", accountNumber=None)
    settings.ACCOUNT_NUMBER_KEYS = keys
    for path in (WALLETS, f"{WALLETS}/{wallet['id']}"):
        caplog.clear()
        body = client.get_json(path)
        rows = {row["id"]: row for row in (body if path == WALLETS else [body])}
        row = rows[wallet["id"]]
        assert row["accountNumber"] is None
        assert row["accountNumberUnreadable"] is True
        if path == WALLETS:
            assert "accountNumberUnreadable" not in rows[plain["id"]]
        errors = [r for r in caplog.records if r.levelno == logging.ERROR]
        assert len(errors) == 1
        assert str(wallet["id"]) in errors[0].getMessage()
        assert NUMBER not in caplog.text


@pytest.mark.usefixtures("sealed")
def test_unreadable_number_survives_what_was_read_being_sent_back(
    client: JSONClient, settings: Any
) -> None:
    wallet = write(client)
    stored = stored_number(wallet["id"])
    path = f"{WALLETS}/{wallet['id']}"
    settings.ACCOUNT_NUMBER_KEYS = [OTHER_KEY]
    read = client.get_json(path)
    for method, body in (("PUT", read), ("PATCH", read), ("PATCH", {"memo": "x"})):
        response = client.send(method, path, body)
        assert response.status_code == 200, response.content
        assert response.data["accountNumberUnreadable"] is True
        assert stored_number(wallet["id"]) == stored
    settings.ACCOUNT_NUMBER_KEYS = [KEY]
    assert client.get_json(path)["accountNumber"] == NUMBER


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize(("text", "shown"), [("999", "999"), ("", None)])
def test_unreadable_number_is_replaced_by_another_or_cleared_by_an_empty_text(
    client: JSONClient, settings: Any, text: str, shown: str | None
) -> None:
    wallet = write(client)
    settings.ACCOUNT_NUMBER_KEYS = [OTHER_KEY]
    path = f"{WALLETS}/{wallet['id']}"
    body = client.send("PATCH", path, {"accountNumber": text}).data
    assert body["accountNumber"] == shown
    assert "accountNumberUnreadable" not in body


@pytest.mark.usefixtures("sealed")
def test_rotated_keys_read_the_old_and_seal_with_the_new(
    client: JSONClient, settings: Any
) -> None:
    wallet = write(client)
    settings.ACCOUNT_NUMBER_KEYS = [OTHER_KEY, KEY]
    path = f"{WALLETS}/{wallet['id']}"
    read = client.get_json(path)
    assert read["accountNumber"] == NUMBER
    client.send("PUT", path, read)
    settings.ACCOUNT_NUMBER_KEYS = [OTHER_KEY]
    assert client.get_json(path)["accountNumber"] == NUMBER


@pytest.mark.usefixtures("sealed")
def test_value_copied_into_another_members_row_is_unreadable(
    client: JSONClient, other_member: Member
) -> None:
    wallet = write(client)
    theirs = make_wallet(
        other_member, encrypted_account_number=stored_number(wallet["id"])
    )
    body = JSONClient(other_member).get_json(f"{WALLETS}/{theirs.pk}")
    assert body["accountNumber"] is None
    assert body["accountNumberUnreadable"] is True


@pytest.mark.usefixtures("sealed")
@pytest.mark.parametrize("stored", ["sealed:1:", "sealed:1:!", "sealed:1:가나다"])
def test_broken_column_is_never_a_500(
    client: JSONClient, free_member: Member, stored: str
) -> None:
    wallet = make_wallet(free_member, encrypted_account_number=stored)
    assert client.get_json(WALLETS)[0]["accountNumberUnreadable"] is True
    assert client.get_json("/api/account/networth")["wallets"][0]["id"] == wallet.pk
    path = f"{WALLETS}/{wallet.pk}"
    assert client.send("PATCH", path, {"memo": "x"}).status_code == 200
