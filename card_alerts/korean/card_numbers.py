"""Patterns of the digits of a card."""

import re

from card_alerts.masked_text import INSTALLMENT, TIMESTAMP

_CARD_DIGITS = (
    r"\d{4}\*\d{2}\*|\d\*\d\*|\d{2}\*\d(?!\d)|\*\d\*\d|\d{4}|\*{2,4}-?\d{4}"
    r"|\d{3}\*|\d{2}\*\*|\d\*\*\d"
)
_LAST_DIGITS = r"(?:뒷|뒤|끝)[ ]?(?:자리|번호|4자리)"
CARD_NUMBER = re.compile(
    rf"[*]?[\])]?[ ]{{0,2}}[(\[]?(?:본인|가족|{_LAST_DIGITS}|해외)?[ ]?"
    rf"(?:[•●∙]{{1,4}}[ ]?)?"
    rf"(?P<digits>{_CARD_DIGITS}|\d{{1,2}}(?=[ ]?(?:승인|취소|해외|거절"
    rf"|체크)))(?![\d*년원]|,\d)[)\]]?"
)
# Digits apart from the issuer's name: 길*라(5*4*).
MAY_HAVE_CARD_NUMBER = re.compile(r"\d[\d*]{3}|\d\*|\*\d")
_BULLETS = r"[•●∙]{2,4}[ ]?"
STANDALONE_CARD_NUMBER = re.compile(
    rf"(?=[신체카뒷뒤끝본가\d*(, \n•●∙])(?:(?<!\w){_BULLETS}(?P<h>\d{{4}})(?!\d)"
    rf"|(?:신용|체크|카드|{_LAST_DIGITS}|카드번호|본인"
    rf"|가족)[ :*]{{0,2}}[(\[]?[ ]?(?P<a>{_CARD_DIGITS})(?![\d*년원]|,\d)[)\]]?"
    rf"|(?<!통장)(?<!통장[ ])(?<!계좌)"
    rf"\((?:[^()\n\d*]{{0,8}}[, ])?(?P<b>{_CARD_DIGITS})\)"
    rf"|(?:[\d*]{{4}}[- ]){{2,3}}(?<=[*][- ])(?P<g>\d{{4}})(?!\d)"
    rf"|(?<={INSTALLMENT}),[ ]?(?P<d>{_CARD_DIGITS})\)"
    r"|(?:(?<=[가-힣*]님)|(?<=승인)|(?<=취소))(?:[ ]?|\n)(?P<f>\d{4})(?=[ ](?:승인"
    r"|취소|부분취소"
    rf"|[가-힣]{{1,2}}\*|[가-힣]{{2,8}}(?:팀|부|실|본부)[ ]?\n|{TIMESTAMP})|[ ]?\n)"
    rf"|(?<![\d*\w-])(?P<c>\d\*\d\*|\d{{4}}\*\*)(?![\d*-])"
    r"|(?<![\d*\w-])\*(?P<e>\d{4})(?=[ ](?:승인|취소|거절|사용)))"
)
