"""A new key: every account number is sealed with it, and nothing is lost."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import Member
from ledger.base.encryption import (
    account_number_associated_data,
    is_encrypted_with,
)
from ledger.models import Wallet
from ledger.wallets import key_rotation
from ledger.wallets.wallets import create_wallet, decrypt_account_number
from tests.support.factories import make_member, make_wallet

pytestmark = pytest.mark.django_db

OLD, NEW, OTHER = b"o" * 32, b"n" * 32, b"x" * 32


@pytest.fixture
def seal(settings: Any, free_member: Member) -> Any:
    def make(number: Any, keys: Any, member: Member = free_member) -> Any:
        settings.ACCOUNT_NUMBER_KEYS = keys
        values = {"name": number, "kind": "BANK", "account_number": number}
        return create_wallet(member, values, timezone.now())

    return make


def rotate() -> str:
    said = StringIO()
    call_command("rotate_account_number_key", stdout=said)
    return said.getvalue()


def test_numbers_of_older_keys_and_plain_ones_are_sealed_with_the_new_key(
    seal: Any, settings: Any, free_member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_rotation, "BATCH_SIZE", 2)
    wallets = [seal(f"110-{n}", [OLD]) for n in range(3)]
    wallets += [seal("plain", []), seal("new", [NEW])]
    make_wallet(free_member)
    settings.ACCOUNT_NUMBER_KEYS = [NEW, OLD]
    assert "Done: 4 re-encrypted, 1 unchanged, 0 could not be decrypted." in rotate()
    settings.ACCOUNT_NUMBER_KEYS = [NEW]
    for wallet in wallets:
        wallet.refresh_from_db()
        assert decrypt_account_number(wallet) == wallet.name
        context = account_number_associated_data(free_member.pk)
        assert is_encrypted_with(wallet.encrypted_account_number, NEW, context)
    assert "Done: 0 re-encrypted, 5 unchanged, 0 could not be decrypted." in rotate()


def test_progress_is_shown_after_each_batch_of_members(
    seal: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_rotation, "BATCH_SIZE", 2)
    for number in range(5):
        seal(f"110-{number}", [OLD], make_member())
    settings.ACCOUNT_NUMBER_KEYS = [NEW, OLD]
    shown = [line.split()[0] for line in rotate().splitlines()]
    assert shown == ["2", "4", "5", "Done:"]


def test_number_that_no_key_opens_stays_and_fails_the_command(
    seal: Any, settings: Any
) -> None:
    lost, kept = seal("lost", [OTHER]), seal("kept", [OLD])
    before = Wallet.objects.get(pk=lost.pk).encrypted_account_number
    settings.ACCOUNT_NUMBER_KEYS = [NEW, OLD]
    with pytest.raises(CommandError, match="1 could not be decrypted"):
        rotate()
    assert Wallet.objects.get(pk=lost.pk).encrypted_account_number == before
    kept.refresh_from_db()
    assert decrypt_account_number(kept) == "kept"


def test_without_a_key_nothing_is_done(seal: Any, settings: Any) -> None:
    wallet = seal("plain", [])
    with pytest.raises(CommandError, match="not set"):
        rotate()
    wallet.refresh_from_db()
    assert wallet.encrypted_account_number == "plain"
