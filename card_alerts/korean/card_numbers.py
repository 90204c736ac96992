"""Patterns of the digits of a card."""

from card_alerts.masked_text import INSTALLMENT, ISSUER, NOISE, TIMESTAMP
from card_alerts.patterns import pattern
from card_alerts.result import Span

_CARD_DIGITS = r"""
    \d{4}\*\d{2}\* | \d\*\d\*
    | \d{2}\*\d(?!\d) | \d\*\d{2}(?!\d)
    | \*\d\*\d | \d{4} | \*{2,4}-?\d{4} | \d{3}\* | \d{2}\*\* | \d\*\*\d
    | \*{3}\d{3} | \d\*{3}
"""
_LAST_DIGITS = r"(?:뒷|뒤|끝)[ ]?(?:자리|번호|4자리)"
CARD_NUMBER = pattern(
    rf"""
    [*-]?[\])]?[ ]{{0,2}}[(\[]?(?:본인|가족|{_LAST_DIGITS}|해외)?[ ]?
    (?:[•●∙]{{1,4}}[ ]?|\*{{4}}[ ]|(?<=[ ])\*(?=\d{{4}}(?![\d*])))?
    (?P<digits>{_CARD_DIGITS}|\d{{1,2}}(?=[ ]?(?:승인|취소|해외|거절|체크)))
    (?![\d*년원]|,\d)[)\]]?
    """,
    example="농협비씨(9*0*)",
)
# Digits apart from the issuer's name: 길*라(5*4*).
MAY_HAVE_CARD_NUMBER = pattern(
    r"\d[\d*]{3}|\d\*|\*\d|자리[ ]?\d", example="길*라(5*4*)"
)
_BULLETS = r"[•●∙]{2,4}[ ]?"
STANDALONE_CARD_NUMBER = pattern(
    rf"""
    (?=[가-힣A-Za-z\d*(, \n•●∙])
    (?:
        (?<!\w){_BULLETS}(?P<h>\d{{4}})(?!\d)
        | (?:신용|체크|카드|{_LAST_DIGITS}|카드번호(?:[ ]끝)?|본인|가족)[ :]{{0,2}}
          (?:\*(?!\*))?(?:\*{{4}}[ ])?[(\[]?[ ]?
          (?P<a>{_CARD_DIGITS})(?![\d*년원]|,\d|-\*)[)\]]?
        | (?<!통장)(?<!통장[ ])(?<!계좌)\((?:[^()\n\d*]{{0,8}}[, ])?
          (?P<b>{_CARD_DIGITS})\)
        | \d{{4}}-(?:[\d*]{{2,4}}[- ]){{1,2}}(?<=[*]-)(?P<q>\d{{4}})(?![\d-])
        | (?:[\d*]{{4}}[- ]){{2,3}}(?<=[*][- ])(?P<g>\d{{4}})(?!\d)
        | (?<={INSTALLMENT}),[ ]?(?P<d>{_CARD_DIGITS})\)
        | (?<![A-Za-z])(?:Visa|VISA|Master(?:[Cc]ard)?|Amex|AMEX|JCB)[ \-*•]{{1,5}}
          (?P<m>\d{{4}})(?!\d)
        # 안*별님 1345 통신요금
        | (?<=\*[가-힣]님)[ ](?P<o>\d{{4}})(?=[ ][A-Z가-힣])
        # Behind the name of local money, which is masked: 인천e음 카드 1234
        | (?<={NOISE})[ ](?P<p>\d{{4}}|\*\*\d{{2}}(?!\d))
          (?=[ ]?(?:\n|$|승인|취소|사용|결제))
        # 11/10 18:42 | 초록 2718
        | (?<=[|·][ ])(?:[A-Za-z가-힣]{{1,10}}[ ]){{1,3}}(?P<n>\d{{4}})(?=[ ]?(?:\n|$))
        # the Green · 4402
        | (?<=[A-Za-z가-힣{ISSUER}][ ]·[ ])(?P<r>\d{{4}})(?=[ ]?(?:\n|$))
        # A line of ****2718
        | (?:^|(?<=\n))\*{{4}}(?P<t>\d{{4}})(?=[ ]?(?:\n|$))
        | \(\*(?P<s>\d{{4}})\)
        # 2718 · 일시불, 초록 2718 | 일시불
        | (?<=[\n ])(?P<l>\d{{4}})(?=[ ][·|][ ]?{INSTALLMENT})
        # 승인(0088, 11/02 15:44)
        | \((?P<i>{_CARD_DIGITS})(?=,[ ]{TIMESTAMP})
        # 71*3카드
        | (?<![\d*\w-])(?P<j>\d{{2}}\*\d|\d{{4}})카드(?![가-힣])
        # 동백전 카드 **71
        | 카드[ ](?P<u>\*\*\d{{2}})(?![\d*])
        | (?<![가-힣])카드[ ]{_LAST_DIGITS}[ ]?(?P<k>\d{{3}})(?![\d*년원]|,\d)
        | (?:(?<=[가-힣*]님)|(?<=승인)|(?<=취소))(?:[ ]?|\n)(?P<f>\d{{4}})
          (?=
              [ ](?:
                  승인 | 취소 | 부분취소 | [가-힣]{{1,2}}\*
                  | [가-힣]{{2,8}}(?:팀|부|실|본부)[ ]?\n
                  | {TIMESTAMP}
              )
              | [ ]?\n | [가-힣]{{1,2}}\*
          )
        | (?<![\d*\w-])(?P<c>\d\*\d\*|\d{{4}}\*\*)(?![\d*-])
        | (?<![\d*\w-])\*(?P<e>\d{{4}})(?=[ ](?:승인|취소|거절|사용|[가-힣]{{1,2}}\*))
    )
    """,
    example=f"{ISSUER} 서문*님 1*2*",
)
# 4132-****-****-2433: the hint is the last group.
_WHOLE_NUMBER = pattern(
    r"\d{4}[- ][\d*]{4}[- ][\d*]{4}[- ](?P<digits>\d{4})(?![\d-])",
    example="4132-****-****-2433",
)


def last_digits(text: str, span: Span) -> Span:
    """Return the last group of a whole masked number that begins with a span."""
    whole = _WHOLE_NUMBER.match(text, span[0])
    return whole.span("digits") if whole and "*" in whole[0] else span
