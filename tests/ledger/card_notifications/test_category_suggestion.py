"""The learned category: containment either way, the most used, the newest on a tie."""

from datetime import date
from typing import Any

import pytest

from accounts.models import Member
from ledger.card_notifications.category_suggestion import suggest_category
from ledger.models import Entry
from tests.support.factories import make_category, make_entry

pytestmark = pytest.mark.django_db


@pytest.fixture
def learn(free_member: Member) -> Any:
    return lambda merchant, type_="expense": suggest_category(
        free_member, type_, merchant
    )


@pytest.fixture
def note(free_member: Member) -> Any:
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
def test_memo_that_contains_the_merchant_or_is_in_it_teaches(
    learn: Any, note: Any, memo: str, merchant: str
) -> None:
    note(memo, "카페")
    assert learn(merchant) == "카페"


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
def test_what_is_not_contained_teaches_nothing(
    learn: Any, note: Any, memo: str, merchant: str
) -> None:
    note(memo, "카페")
    assert learn(merchant) is None


def test_one_letter_teaches_where_it_is_the_whole_memo(learn: Any, note: Any) -> None:
    note("별", "카페")
    assert learn("별") == "카페"


def test_most_used_category_among_all_matches_is_taken(learn: Any, note: Any) -> None:
    note("스타벅스 강남", "카페", 2)
    note("스타벅스", "선물", 3)
    note("스타벅스 역삼", "카페", 2)
    assert learn("스타벅스") == "카페"


def test_most_recent_of_the_matches_decides_a_tie(learn: Any, note: Any) -> None:
    note("스타벅스", "카페", 2, date=date(2026, 3, 1))
    note("스타벅스", "선물", 2, date=date(2026, 4, 1))
    note("이마트", "카페", 1, date=date(2026, 5, 1))
    assert learn("스타벅스") == "선물"


def test_only_confirmed_entries_of_the_same_type_teach(
    learn: Any, note: Any, other_member: Member
) -> None:
    note("스타벅스", "카페", pending=True)
    note("스타벅스", "환불", type="income")
    theirs = make_category(other_member, name="남의 것")
    make_entry(other_member, memo="스타벅스", category=theirs)
    assert learn("스타벅스") is None
    assert learn("스타벅스", "income") == "환불"


def test_entry_that_is_gone_teaches_no_more(learn: Any, note: Any) -> None:
    note("스타벅스", "카페")
    Entry.objects.all().delete()
    assert learn("스타벅스") is None


def test_long_merchant_is_looked_up_all_the_same(learn: Any, note: Any) -> None:
    note("스타벅스", "카페")
    assert learn("스타벅스" + "가나다라" * 120) == "카페"


def test_lookup_is_one_statement(
    learn: Any, note: Any, django_assert_num_queries: Any
) -> None:
    note("스타벅스", "카페", 2)
    note("스타벅스", "선물", 2)
    with django_assert_num_queries(1):
        learn("스타벅스 강남")
