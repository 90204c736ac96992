"""Category suggestions: matching memos, the most used, the newest on a tie."""

from datetime import date
from typing import Any

import pytest

from accounts.models import Member
from ledger.models import Entry
from ledger.notifications.category_suggestion import suggest_category
from tests.support.factories import make_category, make_entry

pytestmark = pytest.mark.django_db


@pytest.fixture
def suggest(free_member: Member) -> Any:
    return lambda merchant, type_="expense": suggest_category(
        free_member, type_, merchant
    )


@pytest.fixture
def write_entries(free_member: Member) -> Any:
    names: dict[tuple[Any, Any], Any] = {}

    def write(memo: Any, category: Any, count: int = 1, **fields: Any) -> None:
        type_ = fields.get("type", "expense")
        row = names.get((category, type_)) or make_category(
            free_member, name=category, type=type_
        )
        names[category, type_] = row
        for _ in range(count):
            make_entry(free_member, memo=memo, category=row, **fields)

    return write


@pytest.mark.parametrize(
    ("memo", "merchant"),
    [
        ("스타벅스", "스타벅스"),
        ("스타벅스", "스타벅스 강남점"),
        ("스타벅스 강남점", "스타벅스"),
        ("Star Bucks", "STARBUCKS SEOUL"),
        ("100% 과일_주스", "과일_주스"),
        ("back\\slash", "BACK\\SLASH cafe"),
    ],
)
def test_memo_matches_by_containment_in_either_direction(
    suggest: Any, write_entries: Any, memo: str, merchant: str
) -> None:
    write_entries(memo, "카페")
    assert suggest(merchant) == "카페"


@pytest.mark.parametrize(
    ("memo", "merchant"),
    [
        ("스타벅스", "이디야"),
        ("", "이디야"),
        ("이", "이디야"),
        ("이디야", "야"),
        ("이디야", ""),
        ("과일주스", "과%주스"),
        ("과일주스", "과_주스"),
    ],
)
def test_other_memo_does_not_match(
    suggest: Any, write_entries: Any, memo: str, merchant: str
) -> None:
    write_entries(memo, "카페")
    assert suggest(merchant) is None


def test_one_character_matches_a_whole_memo(suggest: Any, write_entries: Any) -> None:
    write_entries("별", "카페")
    assert suggest("별") == "카페"


def test_most_used_category_of_all_matches_is_suggested(
    suggest: Any, write_entries: Any
) -> None:
    write_entries("스타벅스 강남", "카페", 2)
    write_entries("스타벅스", "선물", 3)
    write_entries("스타벅스 역삼", "카페", 2)
    assert suggest("스타벅스") == "카페"


def test_most_recent_of_the_matches_decides_a_tie(
    suggest: Any, write_entries: Any
) -> None:
    write_entries("스타벅스", "카페", 2, date=date(2026, 3, 1))
    write_entries("스타벅스", "선물", 2, date=date(2026, 4, 1))
    write_entries("이마트", "카페", 1, date=date(2026, 5, 1))
    assert suggest("스타벅스") == "선물"


def test_only_own_confirmed_entries_of_the_same_type_match(
    suggest: Any, write_entries: Any, other_member: Member
) -> None:
    write_entries("스타벅스", "카페", pending=True)
    write_entries("스타벅스", "환불", type="income")
    theirs = make_category(other_member, name="남의 것")
    make_entry(other_member, memo="스타벅스", category=theirs)
    assert suggest("스타벅스") is None
    assert suggest("스타벅스", "income") == "환불"


def test_deleted_entry_does_not_match(suggest: Any, write_entries: Any) -> None:
    write_entries("스타벅스", "카페")
    Entry.objects.all().delete()
    assert suggest("스타벅스") is None


def test_long_merchant_matches(suggest: Any, write_entries: Any) -> None:
    write_entries("스타벅스", "카페")
    assert suggest("스타벅스" + "가나다라" * 120) == "카페"


def test_suggestion_is_one_query(
    suggest: Any, write_entries: Any, django_assert_num_queries: Any
) -> None:
    write_entries("스타벅스", "카페", 2)
    write_entries("스타벅스", "선물", 2)
    with django_assert_num_queries(1):
        suggest("스타벅스 강남")
