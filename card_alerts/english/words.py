"""English words of card payments, and of other messages."""

import re

from card_alerts.patterns import pattern
from card_alerts.result import Kind, Reason, Span

_PASSWORD = pattern(
    r"""
    \b(?=(?-i:[opvsalOPVSAL]))
    (?:
        OTP\b
        | one[- ]time(?![ ]payment)
        | pass\s?code | verification[ ]code | security[ ]code | auth\w{0,12}[ ]code
        | login[ ]code
    )
    | \b\d{3}[ ]?\d{3}[ ]is[ ]your[ ](?:\w+[ ]){0,2}code\b
    | \b\d{4,8}[ ]to[ ](?:authenticate|verify|confirm|approve|complete|authori[sz]e)
    | \byour[ ]code[ ]is\b | \bcode[ ]is[ ]\d{4,8}\b
    """,
    example="Your code is",
    flags=re.IGNORECASE,
)
_DECLINED = pattern(
    r"""
    \b(?=(?-i:[wbidunfrcWBIDUNFRC]))
    (?:
        (?:was|been|is)[ ](?:temporarily[ ])?blocked\b
        | blocked[ ](?:[^\s]{1,12}[ ]){0,2}(?:transaction|purchase|payment|charge)
        | declin\w{1,4} | insufficient | unsuccessful
        | not[ ](?:approved|successful)
        | not[ ](?:be[ ])?(?:authori[sz]ed|processed|completed|go[ ]through)
        | failed\b | denied\b | rejected\b | could[ ]not[ ]be | couldn't
        | was[ ]refused\b | refused,[ ] | we[ ]stopped\b
    )
    | (?=(?-i:[nN]))n't[ ](?:authori[sz]ed|processed|completed|go[ ]through)
    """,
    example="unsuccessful:",
    flags=re.IGNORECASE,
)
_CANCELLED = pattern(
    r"""
    \b(?=(?-i:[rvcasRVCAS]))
    (?:
        # Amount of AED 129.99 from HARBOR COFFEE has been credited to your card
        (?:amount|sum)[ ]of[ ][A-Z]{3}[ ]?[\d.,]{1,14}[ ]from[ ][^\n]{2,40}[ ]
        (?:has|have)[ ]been[ ]credited[ ]to[ ]your[ ](?:\w{1,20}[ ]){0,3}card\b
        | revers(?:ed|al)\b
        | reverse(?=[ ](?:transaction|purchase|payment)\b)
        | refund(?:ed)?\b
        | voided\b | cancell?ed\b
        # Before an amount or alone: not the free cancellation of a booking.
        | cancell?ation(?=[:\n]|[ ](?-i:(?:of[ ])?[A-Z]{3}[ ]?\d))
        | (?<!be[ ])returned\b | chargeback\b
        | credited[ ]your[ ](?:account|card)[ ]for\b
        | credit(?:ed)?[ ](?:back|voucher)
    )
    """,
    example="Amex: refund of",
    flags=re.IGNORECASE,
)
_NOT_YET = pattern(
    r"""
    initiated | will[ ]be | is[ ]being | in[ ]process | processing | may[ ]take
    | is[ ]ready | to[ ]process | request | on[ ]its[ ]way | pending | expect
    | allow[ ][^.\n]{1,12}[ ]business[ ]days
    """,
    example="been initiated",
    flags=re.IGNORECASE,
)
# Your refund was issued. It may take 3-5 days to appear on your statement.
_UNTIL_BOOKED = pattern(
    r"""
    \b(?P<done>issued|refunded|completed|processed)\b[\s\S]{0,160}?
    may[ ]take[ ][^\n]{1,30}to[ ](?:appear|show|post|reach|reflect)
    """,
    example="refunded. It may take 3-5 days to appear",
    flags=re.IGNORECASE,
)
_APPROVED = pattern(
    r"""
    \b(?=(?-i:[scfpuatdmwrSCFPUATDMWR]))
    (?:
        spent | fuel(?:l)?ed[ ]up[ ]for | charged?
        | charging(?=[ ][A-Z]{3}[ ]?\d) | purchase[ds]? | paid | used
        | approved | approval
        | authori[sz](?:ed|ation)
        | deducted(?=[ ]from[ ](?:your[ ])?(?:\w{1,20}[ ]){0,3}(?:card|e?wallet)\b)
        | transactions? | trans | trx | txn | debited | payment | made | withdrawn
        | pos(?=[ ]?(?:\n|pur\b))
        # Your Maple Premium subscription renewed for $11.99
        | renewed(?=[ ](?:automatically[ ])?for[ ][$£€])
        # Thank you for using HSBC Debit Card XX12 for INR 305.00
        | using(?=[ ][^.\n]{0,30}\bcard\b[^.\n]{0,20}[ ]for[ ][A-Z]{3}[ ]?\d)
    )\b
    """,
    example="Paid €4.50 at",
    flags=re.IGNORECASE,
)
_STATEMENT = pattern(
    r"""
    \b(?=(?-i:[ismatpbdrlteoISMATPBDRLTEO]))
    (?:
        statement\b
        | minimum[ ](?:payment|due|amount) | interest[ ]charged\b
        | min(?:imum)?\.?[ ]due
        | amt[ ]due | amount[ ]due | total[ ]due
        | payment:?[ ](?:is[ ])?due
        | payment[ ]to[ ](?:your[ ])?(?:credit[ ])?card[ ](?:ending|[*.Xx\d])
        | (?<!final[ ])bill\b
        | due[ ](?:on|by|date|today|tomorrow|soon|in[ ]\d)
        | autopay
        | payment[ ]of[ ][^\n]{1,60}(?:received|posted|credited|scheduled|processed)
        | (?:received|thank[ ]you[ ]for)[ ]your[^\n]{0,20}[ ]payment
        | payment[ ]of[ ][^\n]{1,40}[ ]towards[ ]your
        | payment[ ]of[ ][^\n]{1,20}[ ]to[ ](?:your[ ])?(?:credit[ ])?card[ ]ending
        | payment[ ]towards?[ ](?:your[ ])?credit[ ]card
        | payment[ ](?:has[ ])?(?:been[ ])?(?:received|posted|scheduled)
        | payment[ ]instructions?\b
        | receipt[ ]of[ ]your[ ]payment
        | pay[ ]your | late[ ]fee | EMI\b | overdue | past[ ]due
        | thank[ ]you[ ]for[ ](?:your|the)[ ]payment
    )
    """,
    example="Statement date",
    flags=re.IGNORECASE,
)
_BANK_TRANSFER = pattern(
    r"""
    \b(?=(?-i:[cdegztniruwaspyvCDEGZTNIRUWASPYV]))
    (?:
        credited\b
        | deposit(?:ed|s)?\b
        | zelle\b
        | transfer(?:r?ed|s)?\b
        | NEFT\b | IMPS\b | RTGS\b | UPI\b | withdr\w{1,8} | ATM\b | salary\b
        | (?:paid|sent)[ ]you | sent[ ]to
        | you[ ](?:sent(?![ ]a[ ]payment[ ]of)|have[ ](?:received|sent))
        | interest[ ]of\b | che(?:que|ck)\b[^\n]{0,30}\b(?:paid|cleared)
        | payroll\b | wire\b | ACH\b | incoming\b | cash(?:ed)?[ -]in\b
        | standing[ ](?:order|instruction) | credit[ ]transaction[ ]from
        | direct[ ]debit | EFT\b | GIRO\b | cr\.?[ ]transaction[ ]of
        | paid[ ]from[ ](?:\w{1,20}[ ]){0,3}a/c
        | dr\.?[ ]from[ ]a/c | cr\.?[ ]to\b
        | debited[ ]from[ ]your[ ](?:\w{1,20}[ ]){0,3}(?:account|a/c)\b
        # Between people, where no card of it is named.
        | venmo:?[ ](?!.{0,20}card)
    )
    """,
    example="direct deposit",
    flags=re.IGNORECASE,
)
_ADVERT = pattern(
    r"""
    (?=(?-i:[\dac-eglopr-wAC-EGLOPR-W]))
    (?:
    \bup[ ]to\b(?![ ]\d{1,2}[ ](?:(?:business|working)[ ])?days)
    | \b\d{1,3}%[ ](?:off|back|cash)
    | \boffers?\b | \bearn\b | apply[ ]now | \bsave\b | \bwin\b | \beligible\b
    | limited[ ]time | \bunlock\b
    | \bget[ ](?:\W|\d|rs|up|flat|an?)
    | pre-?approved | \bcashback\b | \bvoucher\b | \bdiscount\b | \bpromo\b | t&c
    | shop[ ]now | \bexclusive\b | \bwhen[ ]you\b | \bon[ ]your[ ]next\b | \bupgrade\b
    | \bloan\b | unsubscribe | \bredeem\b
    | reply[ ]stop(?![ ]to[ ](?:end|stop|cancel)[ ]alerts)
    )
    """,
    example="Discover: Earn",
    flags=re.IGNORECASE,
)
# An advert, even with "you spent".
_OFFER = pattern(
    r"""
    \b(?=(?-i:[twisoTWISO]))
    (?:
        terms[ ](?:and[ ]conditions[ ])?apply\b
        | when[ ]you[ ]spend\b | when[ ]you[ ]spent\b
        | (?:if|once)[ ]you[ ]spen[dt]\b
        | spend[ ](?:over|at[ ]least)\b
        | offers?:
    )
    # Not below a payment, which may be offered in parts, too
    | \A(?:[^\n]{0,60}\n)?(?:dear[ ][^,\n]{1,30},[ ])?
      (?:turn|convert)[ ](?:your|this)[ ][^\n]{1,100}[ ](?:in)?to[ ][^\n]{0,24}
      (?:EMIs?|instal\w{2,8})\b
    """,
    example="when you spend",
    flags=re.IGNORECASE,
)
# A sentence that reports a payment outweighs most words of adverts.
_COMPLETED = pattern(
    r"""
    (?=(?-i:[bcdhpstwyBCDHPSTWY]))
    (?:
    you[ ](?:just[ ])?(?:made|spent|paid|used)
    | \bspent\b
    | was[ ](?:charged|used|made|approved|placed|declined|authori[sz]ed)
    | (?:transaction|payment)[ ][^\n]{1,120}[ ]is[ ](?:processed[ ])?successful
    | has[ ]been[ ](?:used|made|charged|done) | card[ ]used[ ](?:for|at)\b
    | purchase[ ]of | transaction[ ]of | \bpaid\b | charge[ ]of | we[ ]processed
    | transaction[ ]with | been[ ]charged | debited | \btxn[ ](?:of[ ])?(?:rs|inr)
    )
    """,
    example="transaction of",
    flags=re.IGNORECASE,
)
_FUTURE = pattern(
    r"""
    \b(?=(?-i:[ewstgudrahEWSTGUDRAH]))
    (?:
        (?:will|shall|to|going[ ]to)(?:[ ]soon)?[ ]be[ ][\w-]+
        | will[ ](?:charge|debit|deduct|renew|pay)\b
        | upcoming[ ](?:payment|charge|renewal|debit|transaction)\b
        | scheduled\b | due[ ]to[ ]renew\b | expects?[ ]a[ ](?:charge|payment)\b
        | renews[ ](?:on|in)\b | trial[ ]end(?:s|ing)\b | reminder\b
        | to[ ]be[ ](?:debited|charged)\b
        | (?:authori[sz]ation[ ])?hold[ ](?:of|for)\b | hold[ ]has[ ]been[ ]placed
    )
    """,
    example="will be debited",
    flags=re.IGNORECASE,
)
_GRANTED = pattern(
    r"""
    \blimit[ ](?:increase|decrease|change|raise|upgrade|enhancement|request)\b
    | \blimit[ ](?:has[ ]been|have[ ]been|was|were|is[ ]now|will[ ]be)[ ]
      (?:increas|rais|enhanc|chang|lower|reduc|decreas|upgrad|approv|set|updat)
    | \b(?:new|has[ ]a|higher)[ ](?:credit|spending|daily|card)[ ]limit\b
    | \blimit[ ]is[ ]now\b
    | \blimit[ ](?:on|for|of)[ ][^.\n]{2,60}\b
      (?:increased|raised|lowered|reduced|changed|updated|enhanced|set)\b
    | \b(?:increas|rais|enhanc|lower|reduc|upgrad)\w{0,3}[ ](?:your|the)
      [ ][\w ]{0,30}limit
    | \b(?:application|loan|credit[ ]line|line[ ]of[ ]credit|overdraft)\b
      (?:[^.\n]|\.\d){0,60}\b
      (?:approved|declined|received|granted|denied|disbursed)\b
    | \b(?:pre-?approved|approved)[ ]for[ ](?:an?[ ]|your[ ])?
      (?:new[ ]|credit[ ]|personal[ ])?
      (?:card|credit|loan|limit|line)\b(?![ ](?:card[ ])?(?:ending|[Xx*.\d]))
    | \b(?:auto[ ]?pay|e-?mandate|standing[ ]instruction)\b[^.\n]{0,40}\b
      (?:activated|registered|created|set[ ]up)\b
    | \bnew[ ][\w ]{0,20}card\b[^.\n]{0,30}\b
      (?:issued|shipped|mailed|approved|activated|on[ ]its[ ]way|arriv)
    """,
    example="limit increase",
    initials="ACEHILNOPRSUacehilnoprsu",
    flags=re.IGNORECASE,
)
# Transaction of AED 420.00 At Dune Optics. Your card limit is now AED 1,408.26.
_TRANSACTION = pattern(
    r"(?:[^\n]{0,20}\n)?(?:transaction|purchase)[ ]of[ ][A-Z$£€]",
    example="Transaction of AED 420.00",
    flags=re.IGNORECASE,
)
# Authorization code:- 062974 below a completed payment
_CODE_OF_PAYMENT = pattern(
    r"\bauth\w{0,12}[ ]code[ ]?[:#-]", example="Auth code: 307164", flags=re.IGNORECASE
)
_QUESTION = pattern(
    r"""
    \b(?:
        did[ ]you[ ](?:just[ ])?(?:try|make|attempt|authori[sz]e)
        | await\w*[ ]your[ ]approval\b | pay[ ](?:him|her|them|us|me)[ ]back\b
        | (?-i:i)[ ](?:just[ ])?(?:spent|paid|bought)\b | (?:lol|omg)\b
        | (?:venmo|paypal|zelle|pay|send)[ ]me\b | your[ ](?:share|half)[ ]is\b
        | pay[ ]at[ ]the[ ](?:property|hotel|counter|store|desk)\b
        | no[ ]prepayment\b
        | may[ ]have[ ]been[ ]charged\b | charged[ ]twice\b
        | was[ ](?:requested|attempted)\b
        | open[ ]the[ ]app[ ]to[ ]approve\b
        | (?:can|could|would)[ ]you[ ]\w
        | (?:approve|confirm)[ ](?:your|this|the|a)[ ]
          (?:payment|purchase|transaction)\b
        | needs[ ]your[ ]approval\b
        | example[ ]only\b | (?:sample|test)[ ](?:alert|message|notification)\b
        | will[ ]see[ ](?:messages|alerts)\b | prepare[ ]cash\b
        | claim\b[^\n]{1,60}\blodged\b | opened[ ](?:a[ ])?(?:case|dispute)\b
        | haven['’]t[ ]paid[ ]yet\b | not[ ]been[ ]charged\b | no[ ]new[ ]charge\b
        | nothing[ ](?:is|was|has[ ]been)[ ](?:charged|taken)\b
        | (?:was|been)[ ]removed[ ]from\b | reported[ ]lost\b
        | (?:authori[sz]ation|hold)\b[^\n]{0,60}[ ]released\b
        | spent[ ][^\n]{1,24}[ ]across\b | at[ ]a[ ]glance\b
        | training[ ]mode\b | not[ ]a[ ]valid[ ]receipt\b
        | cancel[ ](?:it[ ]|this[ ])?(?:now|within)\b
        | (?:payment|money|rent)[ ]request\b | requested[ ][$£€]
    )
    """,
    example="Did you just try",
    flags=re.IGNORECASE,
)
# Is this you? Reply YES or NO.
_TO_ANSWER = pattern(
    r"""
    \b(?=(?-i:[iwrtsuvcfpIWRTSUVCFP]))
    (?:
        (?:is|was)[ ](?:this|it)[ ]you\?
        # An alert of a payment may ask to reply if it is unknown.
        | (?<!recogni[sz]e[ ]this,[ ])(?<!make[ ]it\?[ ])
          (?:reply|text)[ ](?:yes|no|y|1|cancel)\b
        | (?:suspicious|unusual)[ ](?:charge|purchase|transaction|payment)\b
        | verify[ ]now\b | confirm[ ]or[ ]cancel\b
        | fraud[ ]alert\b | whatsapp\b | press[ ]the[ ]link\b
        | cancel[ ](?:this|the|your)[ ](?:order|transaction|payment|purchase)\b
          [^\n]{0,40}\+?\d[\d() -]{8,}
    )
    | \+1[ ]?\(\d{3}\)
    """,
    example="Reply YES or NO",
    flags=re.IGNORECASE,
)
_SPENT_SO_FAR = pattern(
    r"""
    \bspent[ ][^\n]{1,12}[ ]this[ ](?:week|month|year)\b
    | \bspent[ ][^\n]{1,60}[ ]this[ ](?:billing|statement)[ ](?:period|cycle)\b
    | \bspent[ ][^\n]{1,60}[ ]between[ ]
    | \bso[ ]far[ ]this[ ](?:day|week|month|year)\b
    | (?:%|[Ss]pent[^\n]{1,16})[ ]of[ ]your
      [ ](?:[$£€₹][\d,.]{1,10}[ ])?(?:\w+[ ])?(?:budget|limit)\b
    """,
    example="so far this month,",
    initials="%Ss",
    flags=re.IGNORECASE,
)
_EARNED = pattern(
    r"""
    \A(?:[^\n]{0,40}\n)?(?:[^\n.!]{0,20}[.!][ ])?
    you(?:['’]ve|[ ]have)?[ ](?:earned|collected)\b[^\n]{0,30}
    \b(?:cash[ ]?back|daily[ ]cash|points|rewards|miles|avios)\b
    """,
    example="You earned $5.00 cashback",
    flags=re.IGNORECASE,
)
_BILL_OF_CARD = pattern(
    r"""
    \byou[ ]paid[ ][^\n]{1,20}[ ]to[ ][^\n]{1,40}\bcard[.!]?\s*$
    | \bpayment[ ](?:for|to|towards?)[ ](?:your|the)[ ](?:other[ ]bank['’]s[ ])?
      (?:credit[ ])?card(?:[ ]bill|[ ]account)?\b
    """,
    example="You paid $385.00 to NAB Low Rate Card",
    flags=re.IGNORECASE,
)
# Cash, and points that become money
_CASH = pattern(
    r"""
    \b(?:
        cash[ ]advance(?![ ](?:limit|fee|rate|line))
        | withdrawn[ ](?:at|from)[ ](?:an[ ])?ATM
        | ATM[ ](?:cash[ ])?(?:withdrawal|wdl) | cash[ ]withdrawal
        | (?:points|miles|rewards|cash[ ]?back)[ ](?:were[ ]|have[ ]been[ ])?redeemed
        | (?:points?|miles|rewards|cash[ ]?back)[ ]redemption | redemption[ ]request
    )\b
    """,
    example="Cash advance of $200.00",
    flags=re.IGNORECASE,
)
# Your card has been debited with INR 149.00 towards STREAMBOX for AutoPay.
_MANDATE_DONE = pattern(
    r"""
    \bcard\b[^.\n]{0,40}\b(?:debited|charged)\b[^\n]{1,60}[ ]towards[ ]
    (?!your\b|[^\n]{0,30}\b(?:card|bill|emi|loan|dues?|outstanding)\b)
    """,
    example="card 3390 has been debited with INR 149.00 towards STREAMBOX",
    flags=re.IGNORECASE,
)
# You paid Delia M $31.50, with the note and the words of an app between people
_PAID_PERSON = pattern(
    r"""
    \A[\s\S]{0,80}?^you[ ]paid[ ][^\n]{2,40}[ ][$]\d[\d.,]{0,10}\n[^\n]{1,80}\n
    [\s\S]{0,200}?\b(?:payment[ ]id|transaction[ ]details|completed[ ]via)\b
    """,
    example="You paid Delia M $31.50\nTacos\nTransaction details",
    flags=re.IGNORECASE | re.MULTILINE,
)
# Electricity bill of Rs. 940 paid to TANGEDCO via PhonePe
_BILL_PAID = pattern(
    r"\bbill[ ]of[ ][^\n]{2,20}[ ]paid[ ]to\b|\bcard[ ]ending[ ]\d{4}[ ]has[ ]paid\b",
    example="bill of Rs. 940 paid to",
    flags=re.IGNORECASE,
)
# The due date of the bill may stand below it.
_PURCHASE_HEADING = pattern(
    r"(?:[^\n]{0,40}\n)?(?:credit|debit)[ ]card[ ]purchase\b",
    example="Credit Card Purchase\nCard No XXXX4711",
    flags=re.IGNORECASE,
)
# You have topped up RM50.00, Reload successful
_TOPPED_UP = pattern(
    r"""
    \b(?:
        you(?:['’]ve|[ ]have)?[ ](?:topped[ ]up|reloaded|added[ ][$£€₹]?\d)
        | (?:top[ -]?up|reload)(?:[ ]of[ ][^\n]{2,14})?[ ]
          (?:was[ ])?(?:successful|complete)
        | (?:wallet|card|account)[ ]has[ ]been[ ](?:reloaded|topped[ ]up)
        | money[ ]added
    )\b
    """,
    example="You have topped up RM50.00",
    initials="YyTtRrWwCcAaMm",
    flags=re.IGNORECASE,
)
_SHIPPED = pattern(
    r"\border\b[^\n.]{0,30}\b(?:shipped|dispatched|on[ ]its[ ]way)\b",
    example="Your order #88210 has shipped",
    initials="Oo",
    flags=re.IGNORECASE,
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
        "refused",
        "stopped",
    ),
    _CANCELLED: ("rever", "refund", "void", "cancel", "return", "charge", "credit"),
    _FUTURE: (
        *("will", "shall", " to be", "to be", "upcoming", "scheduled", "renew"),
        *("trial", "reminder", "hold"),
    ),
    _GRANTED: (
        *("limit", "application", "loan", "line", "overdraft", "approved", "new "),
        *("activated", "registered", "created", "set up"),
    ),
    _MANDATE_DONE: ("towards",),
    _BILL_PAID: ("bill of", "has paid"),
    _QUESTION: (
        *("did you", "the app", "an you", "ould you", "request", "attempted"),
        *("may have", "twice", "mo me", "al me", "le me", "ay me", "nd me"),
        *("await", " back", "i just", "i spent", "i paid", "i bought", "lol", "omg"),
        *("share is", "half is", "pay at", "prepa", "example", "sample", "test "),
        *("will see", "lodged", "opened", "paid yet", "been charged", "new charge"),
        *("nothing", "removed", "lost", "released", "across", "glance", "training"),
        "valid receipt",
        *("approve ", "confirm ", "approval", "cancel"),
    ),
    _TO_ANSWER: (
        "you?",
        "reply",
        "text ",
        "fraud",
        "cancel",
        "usual ",
        "suspicious",
        "verify",
        "whatsapp",
        "press",
        "+1",
    ),
    _SPENT_SO_FAR: ("so far", "budget", "spent "),
    _EARNED: ("earned", "collected"),
    _BILL_OF_CARD: ("you paid", "payment for", "payment to"),
    _CASH: ("cash", "atm", "redeem", "redempt"),
    _TOPPED_UP: ("topped", "reload", "top-up", "top up", "added"),
    _SHIPPED: ("shipped", "dispatched", "on its way"),
    _OFFER: ("apply", "spen", "offer", "emi", "instal"),
    _STATEMENT: (
        *("statement", "min", "due", "bill", "autopay", "payment to", "to card"),
        *("to your c", "receipt", "received", "posted", "thank", "credited"),
        *("scheduled", "processed", "pay your", "late fee", "emi", "instruction"),
        "interest",
    ),
    _BANK_TRANSFER: (
        *("credited", "deposit", "zelle", "transfer", "neft", "imps", "rtgs", "upi"),
        *("withdr", "atm", "salary", "sent", "received", "venmo", "payroll", "wire"),
        *("ach", "incoming", "giro", "paid from", "debited", "standing"),
        *("credit trans", "r. from", "r from", "cr. trans", "cr trans", "direct"),
        *("eft", "paid you", "cash", "interest", "cheque", "check"),
    ),
}
# By the identity of the pattern: its hash is of the whole compiled expression.
_HINTS_BY_ID = {id(rule): hints for rule, hints in _HINTS.items()}
_CARD = pattern(
    r"\bcard\b|\bpaid[ ]with\s{1,3}(?:visa|mastercard|amex|discover)\b",
    example="your card",
    flags=re.IGNORECASE,
)


def _search(rule: re.Pattern[str], text: str, lower: str) -> re.Match[str] | None:
    hints = _HINTS_BY_ID.get(id(rule))
    if hints is not None and not any(map(lower.__contains__, hints)):
        return None
    return rule.search(text)


def find_status_keyword(text: str) -> tuple[Kind, Span] | None:
    """Prefer a decline to a refund, and a refund to a payment."""
    lower = text.lower()
    for rule, kind in (
        (_DECLINED, Kind.DECLINED),
        (_CANCELLED, Kind.CANCELLATION),
        (_APPROVED, Kind.APPROVAL),
    ):
        match = _search(rule, text, lower)
        if match:
            return kind, match.span()
    return None


def certain_reason(text: str, lower: str) -> Reason | None:
    """Return a reason that holds whatever the event is."""
    is_code = _search(_PASSWORD, text, lower)
    if is_code and not (_COMPLETED.search(text) and _CODE_OF_PAYMENT.search(text)):
        return Reason.ONE_TIME_PASSWORD
    is_transfer = (
        _search(_BILL_OF_CARD, text, lower)
        or _search(_CASH, text, lower)
        or _search(_TOPPED_UP, text, lower)
        or ("you paid" in lower and _PAID_PERSON.match(text))
    )
    if is_transfer:
        return Reason.BANK_TRANSFER
    if _search(_EARNED, text, lower):
        return Reason.ADVERT
    is_none = (
        _search(_QUESTION, text, lower)
        or _search(_SPENT_SO_FAR, text, lower)
        or _search(_SHIPPED, text, lower)
        or (_search(_GRANTED, text, lower) and not _TRANSACTION.match(text))
    )
    return Reason.NO_PAYMENT if is_none else None


def is_question(text: str, lower: str) -> bool:
    """Return True if somebody is to answer whether they paid."""
    return _search(_TO_ANSWER, text, lower) is not None


def rejection_reason(
    text: str, kind: Kind | None, *, is_completed: bool = False
) -> Reason | None:
    """Return the reason why a text is no payment.

    `is_completed` if its layout is one of payments.
    """
    lower = text.lower()
    reason = certain_reason(text, lower)
    if reason:
        return reason
    if kind is Kind.DECLINED:
        return None
    if is_question(text, lower):
        return Reason.NO_PAYMENT
    if kind is Kind.CANCELLATION:
        told = _UNTIL_BOOKED.sub(r"\g<done>", text) if "may take" in lower else text
        return Reason.NO_PAYMENT if _NOT_YET.search(told) else None
    is_completed = is_completed or _COMPLETED.search(text) is not None
    if _search(_FUTURE, text, lower) and not _COMPLETED.search(_FUTURE.sub("", text)):
        return Reason.STATEMENT
    if _search(_OFFER, text, lower):
        return Reason.ADVERT
    is_purchase = (
        _PURCHASE_HEADING.match(text)
        or _search(_MANDATE_DONE, text, lower)
        or _search(_BILL_PAID, text, lower)
    )
    if _search(_STATEMENT, text, lower) and not is_purchase:
        return Reason.STATEMENT
    if _search(_BANK_TRANSFER, text, lower) and not (
        is_completed and _CARD.search(text)
    ):
        return Reason.BANK_TRANSFER
    if not is_completed and _ADVERT.search(text):
        return Reason.ADVERT
    return None
