"""English words of card payments, and of other messages."""

import re

from card_alerts.result import Kind, Reason, Span

_PASSWORD = re.compile(
    r"\b(?=(?-i:[opvsalOPVSAL]))(?:OTP\b|one[- ]time(?! payment)|pass\s?code"
    r"|verification code|security code|auth\w{0,12} code|login code)"
    r"|\b\d{4,8} to (?:authenticate|verify|confirm|approve|complete)"
    r"|\byour code is\b|\bcode is \d{4,8}\b",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"\bblocked (?:an? )?(?:transaction|purchase|payment|charge)"
    r"|\b(?=(?-i:[diunfrcDIUNFRC]))(?:declin\w{1,4}|insufficient|unsuccessful"
    r"|not approved|not (?:be )?(?:authori[sz]ed|processed|completed|go through)"
    r"|failed\b|denied\b|rejected\b|could not be|couldn't)"
    r"|n't (?:authori[sz]ed|processed|completed|go through)",
    re.IGNORECASE,
)
_CANCELLED = re.compile(
    r"\b(?=(?-i:[rvcRVC]))(?:revers(?:ed|al)\b|refund(?:ed)?\b|voided\b|cancell?ed\b"
    # Before an amount or alone: not the free cancellation of a booking.
    r"|cancell?ation(?=[:\n]|[ ](?-i:(?:of )?[A-Z]{3} ?\d))"
    r"|returned\b|chargeback\b|credit(?:ed)? (?:back|voucher))",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"initiated|will be|is being|in process|processing|may take|request"
    r"|on its way|pending|expect",
    re.IGNORECASE,
)
_APPROVED = re.compile(
    r"\b(?=(?-i:[scpuatdmwSCPUATDMW]))(?:spent|charged?|purchase[ds]?|paid|used|approved"
    r"|approval|authori[sz](?:ed|ation)|transactions?|trans|txn|debited|payment|made"
    r"|withdrawn)\b",
    re.IGNORECASE,
)
_STATEMENT = re.compile(
    r"\b(?=(?-i:[smatpbdrlteoSMATPBDRLTEO]))(?:statement\b|minimum (?:payment|due"
    r"|amount)|min(?:imum)?\.? due|amt due|amount due|total due|payment (?:is )?due"
    r"|bill\b|due (?:on|by|date)|autopay|payment of [^\n]{1,60}(?:received|posted"
    r"|credited|scheduled|processed)|(?:received|thank you for) your[^\n]{0,20} payment"
    r"|payment of [^\n]{1,40} towards your|payment (?:has )?(?:been )?(?:received"
    r"|posted|scheduled)"
    r"|pay your|late fee|EMI\b|overdue|past due|thank you for (?:your|the) payment)",
    re.IGNORECASE,
)
_BANK_TRANSFER = re.compile(
    r"\b(?=(?-i:[cdztniruwaspyCDZTNIRUWASPY]))(?:credited\b|deposit(?:ed|s)?\b|zelle\b"
    r"|transfer(?:red|s)?\b|NEFT\b|IMPS\b|RTGS\b|UPI\b|withdr\w{1,8}|ATM\b|salary\b"
    r"|sent you|you sent|payroll\b|wire\b|ACH\b|incoming\b|standing order"
    r"|direct debit)",
    re.IGNORECASE,
)
_ADVERT = re.compile(
    r"\bup to\b|\b\d{1,3}% (?:off|back|cash)|\boffers?\b|\bearn\b|apply now|\bsave\b"
    r"|\bwin\b|\beligible\b|limited time|\bunlock\b|\bget (?:\W|\d|rs|up|flat|an?)"
    r"|pre-?approved"
    r"|\bcashback\b|\bvoucher\b|\bdiscount\b|\bpromo\b|t&c|shop now|\bexclusive\b"
    r"|\bwhen you\b|\bon your next\b|\bupgrade\b|\bloan\b|unsubscribe|reply stop"
    r"|\bredeem\b",
    re.IGNORECASE,
)
# An advert, even with "you spent".
_OFFER = re.compile(
    r"\b(?=(?-i:[twisoTWISO]))(?:terms (?:and conditions )?apply\b|when you spend\b"
    r"|when you spent\b|(?:if|once) you spen[dt]\b|spend (?:over|at least)\b|offers?:)",
    re.IGNORECASE,
)
# A sentence that reports a payment outweighs most words of adverts.
_COMPLETED = re.compile(
    r"you (?:just )?(?:made|spent|paid|used)|\bspent\b|was (?:charged|used|made"
    r"|approved|placed|declined|authori[sz]ed)|has been (?:used|made|charged|done)"
    r"|purchase of|transaction of|\bpaid\b|charge of|we processed|transaction with"
    r"|been charged|debited",
    re.IGNORECASE,
)
_FUTURE = re.compile(
    r"\b(?=(?-i:[wstgudrWSTGUDR]))(?:(?:will|shall|to|going to)(?: soon)? be \w+"
    r"|will (?:charge|debit|deduct|renew|pay)\b"
    r"|upcoming (?:payment|charge|renewal|debit|transaction)\b|scheduled\b"
    r"|due to renew\b|renews (?:on|in)\b|to be (?:debited|charged)\b)",
    re.IGNORECASE,
)
_GRANTED = re.compile(
    r"\blimit (?:increase|decrease|change|raise|upgrade|enhancement|request)\b"
    r"|\blimit (?:has been|have been|was|were|is now|will be) (?:increas|rais|enhanc"
    r"|chang|lower|reduc|decreas|upgrad|approv|set|updat)|\b(?:increas|rais|enhanc"
    r"|lower|reduc|upgrad)\w{0,3} (?:your|the) [\w ]{0,30}limit|\b(?:application|loan"
    r"|credit line|line of credit|overdraft)\b[^.\n]{0,60}\b(?:approved|declined"
    r"|received|granted|denied|disbursed)\b|\b(?:pre-?approved|approved) for (?:an? "
    r"|your )?(?:new |credit |personal )?(?:card|credit|loan|limit|line)"
    r"|\bnew [\w ]{0,20}card\b[^.\n]{0,30}\b(?:issued|shipped|mailed|approved|activated"
    r"|on its way|arriv)",
    re.IGNORECASE,
)
# Authorization code:- 062974 below a completed payment
_CODE_OF_PAYMENT = re.compile(r"\bauth\w{0,12} code[ ]?[:#-]", re.IGNORECASE)
_QUESTION = re.compile(
    r"\bdid you (?:just )?(?:try|make|attempt)|\bopen the app to approve\b",
    re.IGNORECASE,
)
_SPENT_SO_FAR = re.compile(
    r"\bso far this (?:day|week|month|year)\b|% of your (?:\w+ )?budget\b",
    re.IGNORECASE,
)
# You paid $385.00 to NAB Low Rate Card
_BILL_OF_CARD = re.compile(
    r"\byou paid [^\n]{1,20} to [^\n]{1,40}\bcard[.!]?\s*$", re.IGNORECASE
)
# A cheap check before the patterns.
_HINTS = {
    _PASSWORD: ("otp", "one", "pass", "code", "authenticate", " to "),
    _DECLINED: (
        "blocked",
        "declin",
        "suff",
        "unsuc",
        "not ",
        "n't",
        "fail",
        "denied",
        "reject",
    ),
    _CANCELLED: ("rever", "refund", "void", "cancel", "return", "charge", "credit"),
    _FUTURE: ("will", "shall", " to be", "to be", "upcoming", "scheduled", "renew"),
    _GRANTED: ("limit", "application", "loan", "line", "overdraft", "approved", "new "),
    _OFFER: ("apply", "spen", "offer"),
    _STATEMENT: (
        *("statement", "min", "due", "bill", "autopay", "received", "posted", "thank"),
        *("credited", "scheduled", "processed", "pay your", "late fee", "emi"),
    ),
    _BANK_TRANSFER: (
        *("credited", "deposit", "zelle", "transfer", "neft", "imps", "rtgs", "upi"),
        *("withdr", "atm", "salary", "sent", "payroll", "wire", "ach", "incoming"),
        *("standing", "direct"),
    ),
}
_CARD = re.compile(r"\bcard\b", re.IGNORECASE)


def _search(pattern: re.Pattern[str], text: str, lower: str) -> re.Match[str] | None:
    hints = _HINTS.get(pattern)
    if hints is not None and not any(hint in lower for hint in hints):
        return None
    return pattern.search(text)


def find_status_keyword(text: str) -> tuple[Kind, Span] | None:
    """Prefer a decline to a refund, and a refund to a payment."""
    lower = text.lower()
    for pattern, kind in (
        (_DECLINED, Kind.DECLINED),
        (_CANCELLED, Kind.CANCELLATION),
        (_APPROVED, Kind.APPROVAL),
    ):
        match = _search(pattern, text, lower)
        if match:
            return kind, match.span()
    return None


def _certain_reason(text: str, lower: str) -> Reason | None:
    """Return a reason that holds whatever the event is."""
    is_code = _search(_PASSWORD, text, lower)
    if is_code and not (_COMPLETED.search(text) and _CODE_OF_PAYMENT.search(text)):
        return Reason.ONE_TIME_PASSWORD
    if _BILL_OF_CARD.search(text):
        return Reason.BANK_TRANSFER
    is_none = (
        _QUESTION.search(text)
        or _SPENT_SO_FAR.search(text)
        or _search(_GRANTED, text, lower)
    )
    return Reason.NO_PAYMENT if is_none else None


def rejection_reason(text: str, kind: Kind | None) -> Reason | None:
    lower = text.lower()
    reason = _certain_reason(text, lower)
    if reason:
        return reason
    if kind is Kind.DECLINED:
        return None
    if kind is Kind.CANCELLATION:
        return Reason.NO_PAYMENT if _NOT_YET.search(text) else None
    is_completed = _COMPLETED.search(text)
    if _search(_FUTURE, text, lower) and not _COMPLETED.search(_FUTURE.sub("", text)):
        return Reason.STATEMENT
    if _search(_OFFER, text, lower):
        return Reason.ADVERT
    if _search(_STATEMENT, text, lower):
        return Reason.STATEMENT
    if _search(_BANK_TRANSFER, text, lower) and not (
        is_completed and _CARD.search(text)
    ):
        return Reason.BANK_TRANSFER
    if not is_completed and _ADVERT.search(text):
        return Reason.ADVERT
    return None
