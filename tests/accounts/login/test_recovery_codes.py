"""Recovery codes: each stands for the second factor once."""

from typing import Any

import pytest

from accounts.models import AuthSession, Member, RecoveryCode, TotpFactor
from tests.support.clients import JSONClient
from tests.support.problems import assert_problem
from tests.support.second_factors import (
    FACTORS,
    RECOVERY,
    begin_login,
    code_now,
    complete_login,
    get_ticket,
    give_recovery_codes,
    give_totp,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_recovery_code_stands_for_the_factor_once(totp_member: Member) -> None:
    codes = give_recovery_codes(totp_member)
    assert begin_login(totp_member).data["methods"] == ["TOTP", "RECOVERY_CODE"]
    assert complete_login(get_ticket(totp_member), codes[3]).status_code == 200
    response = complete_login(get_ticket(totp_member), codes[3])
    assert_problem(response, 400, "CODE_INVALID")
    assert JSONClient(totp_member).get_json(FACTORS)["recoveryCodesLeft"] == 9


@pytest.mark.parametrize("write", [str.lower, lambda code: code.replace("-", " ")])
def test_recovery_code_is_read_however_it_is_written(
    totp_member: Member, write: Any
) -> None:
    codes = give_recovery_codes(totp_member)
    assert complete_login(get_ticket(totp_member), write(codes[0])).status_code == 200


def test_recovery_code_has_an_index_and_sixty_bits(totp_member: Member) -> None:
    codes = give_recovery_codes(totp_member)
    assert len({code[:2] for code in codes}) == 10
    assert all(len(code.replace("-", "")) == 14 for code in codes)


@pytest.mark.parametrize("of_index", [True, False])
def test_one_hash_is_computed_whatever_the_index(
    totp_member: Member, monkeypatch: pytest.MonkeyPatch, of_index: bool
) -> None:
    computed: list[Any] = []

    def compute(*arguments: Any) -> bool:
        computed.append(arguments)
        return False

    for name in ("check_password", "make_password"):
        monkeypatch.setattr(f"accounts.login.recovery_codes.{name}", compute)
    RecoveryCode.objects.create(member=totp_member, index="QK", hash="x")
    code = "QK-AAAA-AAAA-AAAA" if of_index else "ZZ-AAAA-AAAA-AAAA"
    assert_problem(complete_login(get_ticket(totp_member), code), 400, "CODE_INVALID")
    assert len(computed) == 1


def test_new_recovery_codes_void_the_old_ones(totp_member: Member) -> None:
    old = give_recovery_codes(totp_member)
    response = JSONClient(totp_member).send("POST", RECOVERY)
    new = response.data["recoveryCodes"]
    assert_problem(complete_login(get_ticket(totp_member), old[0]), 400, "CODE_INVALID")
    assert complete_login(get_ticket(totp_member), new[0]).status_code == 200


def test_recovery_codes_need_a_factor(free_member: Member) -> None:
    assert_problem(JSONClient(free_member).send("POST", RECOVERY), 404, "NOT_FOUND")


def test_code_of_another_member_opens_nothing(
    totp_member: Member, other_member: Member
) -> None:
    give_totp(other_member)
    codes = give_recovery_codes(other_member)
    assert_problem(
        complete_login(get_ticket(totp_member), codes[0]), 400, "CODE_INVALID"
    )


def test_seed_copied_from_another_member_opens_nothing(
    totp_member: Member, other_member: Member
) -> None:
    # It is sealed under the id of its member.
    give_totp(other_member)
    theirs = TotpFactor.objects.get(member=other_member).sealed_seed
    TotpFactor.objects.filter(member=totp_member).update(sealed_seed=theirs)
    assert complete_login(get_ticket(totp_member), code_now()).status_code == 500
    assert not AuthSession.objects.exists()
