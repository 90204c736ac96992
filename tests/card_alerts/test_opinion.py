"""The second opinion: what it may change, and that the library works without it."""

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from card_alerts import Certainty, Confidence, Doubt, Kind, Reason, parse, parse_all
from card_alerts.normalization import normalize
from card_alerts.opinion.kinds import KINDS, KindJudge, pack
from card_alerts.opinion.names import FoundNames, NameChance, NameTagger, trim
from card_alerts.opinion.opinion import (
    KINDS_FILE,
    MODEL,
    NAMES_FILE,
    load_opinion,
    read_opinion,
)
from card_alerts.opinion.tokens import MAX_TOKENS, cut, describe
from card_alerts.parser import parse_by
from tests.support.alert_samples import (
    EXAM_2026D,
    GIVEN,
    OWN,
    RECEIVED_AT,
    differences,
    load,
)

# Each is a payment without a layout that the grammar knows.
RESCUED = (
    "[두레클럽] 홍*동님 10/24 22:31 8,500원 일시불 빛고을떡집",
    "누리카드 플러스 취소\n홍*동님\n8,500원 일시불\n10/24 22:31\n빛고을떡집\n누적1,167,114원",
)
FIELDS_OF_THE_GRAMMAR = (
    *("amount", "currency", "original_amount", "occurred_at", "occurred_on"),
    *("card_hint", "card_company", "installment_months", "running_total", "balance"),
)


def test_fields_of_the_grammar_are_never_changed() -> None:
    for message in load(GIVEN) + load(OWN):
        text, title = message["text"], message.get("title", "")
        sender = message.get("sender", "")
        alone = parse(text, RECEIVED_AT, sender, title=title, with_opinion=False)
        both = parse(text, RECEIVED_AT, sender, title=title)
        for name in FIELDS_OF_THE_GRAMMAR:
            assert getattr(both, name) == getattr(alone, name), (name, text)


class TaggerOfCards:
    """A tagger that finds one card, with a probability."""

    def __init__(self, name: str, chance: float) -> None:
        self.name, self.chance = name, chance

    def find(self, text: str) -> FoundNames:
        start = text.index(self.name)
        return FoundNames([], NameChance((start, start + len(self.name)), self.chance))


@pytest.mark.parametrize(
    ("name", "chance", "hint"),
    [
        ("달빛한아름", 0.9, "달빛한아름"),
        ("달빛한아름", 0.79, None),
        # Digits are the grammar's, and the merchant is no card.
        ("88-123", 0.99, None),
        ("새봄문구", 0.99, None),
    ],
)
def test_name_of_a_card_is_taken_from_a_likely_tag(
    name: str, chance: float, hint: str | None
) -> None:
    opinion = load_opinion()
    assert opinion is not None
    tagger = cast("NameTagger", TaggerOfCards(name, chance))
    text = "신한카드 승인 9,000원\n새봄문구\n달빛한아름 88-123"

    (parsed,) = parse_by(replace(opinion, names=tagger), text, RECEIVED_AT)

    assert (parsed.recognized, parsed.merchant) == (True, "새봄문구")
    assert parsed.card_hint == hint
    if hint:
        assert text[slice(*parsed.spans["cardHint"])] == hint


def test_grammar_alone_reads_the_samples_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("card_alerts.parser.load_opinion", lambda: None)

    assert [each["id"] for each in load(GIVEN) if differences(each)] == []


@pytest.mark.parametrize("missing", [KINDS_FILE, NAMES_FILE])
def test_library_works_without_a_file_of_the_model(
    tmp_path: Path, missing: str
) -> None:
    for name in {KINDS_FILE, NAMES_FILE} - {missing}:
        shutil.copy(MODEL / name, tmp_path)

    assert read_opinion(tmp_path) is None


def test_library_works_without_crfsuite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)

    opinion = read_opinion(MODEL)

    assert opinion is None
    text = load(GIVEN)[-1]["text"]
    (parsed,) = parse_by(opinion, text, RECEIVED_AT)
    assert parsed == parse(text, RECEIVED_AT, with_opinion=False)


@pytest.mark.parametrize("text", RESCUED)
def test_payment_of_an_unknown_layout_is_booked_with_a_doubt(text: str) -> None:
    alone, both = parse(text, RECEIVED_AT, with_opinion=False), parse(text, RECEIVED_AT)

    assert (alone.recognized, alone.would_be) == (False, None)
    assert both.recognized
    assert both.kind is (Kind.CANCELLATION if "취소" in text else Kind.APPROVAL)
    assert Doubt.KIND in both.doubts
    assert (both.amount, both.merchant) == (8_500, "빛고을떡집")
    assert both.certainty is Certainty.UNSURE


@pytest.mark.parametrize(
    "text",
    [
        "(광고) 두레카드 승인 홍*동 8,500원 일시불 10/24 22:31 빛고을떡집",
        "[국제발신]\n두레 승인 홍*동 8,500원 일시불 10/24 22:31 빛고을떡집",
        "[두레] 인증번호 482910 결제 8,500원 빛고을떡집",
        "두레카드 승인거절 홍*동 8,500원 일시불 10/24 22:31 빛고을떡집 한도초과",
        "두레카드 승인 홍*동 일시불 10/24 22:31 빛고을떡집",
        "[쿠팡] 589,000원 결제완료 본인 아닐 시 문의 02-123-4567",
    ],
)
def test_what_is_refused_or_has_no_amount_would_be_nothing(text: str) -> None:
    parsed = parse(text, RECEIVED_AT)

    assert not parsed.recognized
    assert parsed.would_be is None


@pytest.mark.parametrize(
    "text",
    [
        "[두레] 여행자금 320,000원이 승인 완료되었습니다. 앱에서 확인해 주세요.",
        "[모임] 회비 32,000원 결제 확인되었습니다. 감사합니다",
    ],
)
def test_booking_that_reads_like_a_notice_is_ignored_with_a_question(text: str) -> None:
    alone, both = parse(text, RECEIVED_AT, with_opinion=False), parse(text, RECEIVED_AT)

    assert alone.recognized
    assert (both.recognized, both.reason) == (False, Reason.NO_PAYMENT)
    assert both.would_be is not None
    assert (both.would_be.amount, both.would_be.kind) == (alone.amount, alone.kind)
    assert Doubt.KIND in both.would_be.doubts
    assert both.certainty is Certainty.UNSURE


def test_names_that_are_not_sure_have_candidates_in_the_text() -> None:
    guessed = 0
    for message in load(EXAM_2026D):
        text = message["text"]
        parsed = parse(text, RECEIVED_AT, title=message.get("title", ""))
        if not parsed.recognized:
            continue
        is_guess = parsed.merchant_confidence is Confidence.GUESS
        assert is_guess == (Doubt.MERCHANT in parsed.doubts and bool(parsed.merchant))
        if not is_guess:
            continue
        guessed += 1
        assert len(parsed.candidates) <= 5
        for each in parsed.candidates:
            assert each.text.split() == text[slice(*each.span)].split()
    assert guessed


def test_name_without_a_letter_gives_way_to_a_likely_one() -> None:
    text = "카드(3390) | #24\n빛고을떡집 | 12,000원 승인"
    parsed = parse(text, RECEIVED_AT)

    assert parse(text, RECEIVED_AT, with_opinion=False).merchant == "#24"
    assert (parsed.merchant, parsed.amount) == ("빛고을떡집", 12_000)
    assert parsed.merchant_confidence is Confidence.GUESS
    assert text[slice(*parsed.spans["merchant"])] == "빛고을떡집"
    assert parsed.candidates[0].text == "빛고을떡집"


def test_many_threads_read_as_one_does() -> None:
    texts = [each["text"] for each in load(OWN)][:120]
    alone = [parse(text, RECEIVED_AT) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: parse(text, RECEIVED_AT), texts * 4))

    assert together == alone * 4


def test_candidates_of_several_messages_are_in_the_whole_text() -> None:
    room = "\n\n".join(RESCUED)
    for parsed in parse_all(room, RECEIVED_AT + timedelta(days=1)):
        for each in parsed.candidates:
            assert each.text == room[slice(*each.span)]


def test_sum_of_packed_weights_is_a_sum_of_each() -> None:
    judge = KindJudge({"ab": pack((5, -7, 0, 127)), "bc": pack((-127, 1, 2, 3))}, 1.0)
    scores = judge.judge("abc")

    assert sum(scores) == pytest.approx(1)
    assert scores._fields == KINDS
    assert scores.notice > scores.declined > scores.cancellation > scores.payment


def test_tokens_lie_in_the_text_and_each_is_described() -> None:
    text = normalize("신한카드(1309)승인 홍*동 4,800원 소담카페에서\n\ud800" * 60).text
    tokens = cut(text)

    assert len(tokens) == MAX_TOKENS
    assert len(describe(text, tokens)) == len(tokens)
    assert all(text[each.start : each.end] == each.text for each in tokens)
    assert [each.text for each in tokens[:5]] == ["신한", "카드", "(", "1309", ")"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (" (주)누리 ", "(주)누리"),
        ("| 바람 -", "바람"),
        ("카페(역삼)", "카페(역삼)"),
        ("--", ""),
    ],
)
def test_marks_around_a_name_are_no_part_of_it(text: str, name: str) -> None:
    span = trim(text, 0, len(text))

    assert (text[slice(*span)] if span else "") == name


def test_empty_text_has_no_names() -> None:
    opinion = load_opinion()

    assert opinion is not None
    assert opinion.names.find("") == ([], None)
    assert opinion.names.find("\n \n") == ([], None)
