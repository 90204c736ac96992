"""Read short payments in German, French, Spanish, Italian, Dutch and Portuguese.

A word for paying, an amount with its currency and a shop behind a preposition are a
payment, unless any word of another message is there.
"""

import re
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from card_alerts.money import MoneyMatch
from card_alerts.patterns import pattern
from card_alerts.result import Kind, Span

_PAID = pattern(
    r"""
    \b(?=(?-i:[abcdghkpstuvzABCDGHKPSTUVZ]))
    (?:
        bezahlt | gezahlt | (?:karten)?zahlung | kartenumsatz | ausgegeben
        | pay[ée]e? | paiement | dépensée? | achat | dépensé
        | compra | pagado | pagaste | pago | gastado | gastaste
        | pagato | pagamento | speso | spesa | acquisto
        | betaald | betaling
        | pagou | gastou
        | transaction(?=[ ]de[ ]) | transacción | transação | transazione | transaktion
    )\b
    """,
    example="27,48 € bei Rosenmarkt bezahlt",
    flags=re.IGNORECASE,
)
_REFUNDED = pattern(
    r"""
    \b(?=(?-i:[dergstvDERGSTV]))
    (?:
        rückerstattung | erstattung | (?:zurück)?erstattet | gutschrift | storniert
        | stornierung
        | rembours\w{1,6} | reembols\w{1,5} | devoluci[oó]n | devuelto | devolvid[oa]
        | rimbors\w{1,5} | terugbetaling | terugbetaald | terugstorting
        | estorn\w{1,4}
    )\b
    """,
    example="Rückerstattung: 27,48 € von Rosenmarkt",
    flags=re.IGNORECASE,
)
# Declines, transfers, bills, codes, adverts, and announcements.
_OTHER_MESSAGE = pattern(
    r"""
    \b(?=(?-i:[a-wzà-üA-WZ]))
    (?:
        nicht | kein\w{0,2} | abgelehnt\w{0,2} | abgebrochen | fehlgeschlagen\w{0,2}
        | verweigert | fällig\w{0,2} | wird | angefragt | anfrage | TAN | freigabe
        | freigeben | bestätig\w{1,4} | überwies\w{1,3} | überweisung\w{0,2}
        | lastschrift | erhalten | gutschein\w{0,2} | rabatt\w{0,2} | sparen? | jetzt
        | bis[ ]zu | rechnung\w{0,2} | limit | offen\w{0,2} | mahnung | geplant\w{0,2}
        | gesendet | angebot\w{0,2} | gewinn\w{0,3} | sichern? | entdeck\w{1,3}
        | kann | können | raten\w{0,8}
        | refus\w{1,4} | échou\w{1,3} | échec | rejet\w{1,4} | annul\w{1,4} | échéance
        | virement | prélèvement | reçu\w{0,2} | jusqu | remises? | profitez | code
        | confirme[rz] | valide[rz] | sera | facture | plafond | à[ ]payer
        | en[ ]attente | impossible | offre | promo\w{0,5} | gagne[rz] | découvrez
        | pouvez | demandée? | demande | prévue? | programm\w{1,3}
        | rechazad[oa] | denegad[oa] | fallid[oa] | vence | vencimiento
        | transferencia | bizum | recibid[oa] | hasta | descuento | código
        | confirma\w{0,2} | será | factura | límite | pendiente
        | no[ ](?:se|ha|has|pudo|fue) | oferta | ahorra | gana | gratis | consigue
        | aprovecha | puedes | solicit\w{1,4} | previst[oa] | próxim[oa] | programad[oa]
        | rifiutat[oa] | negat[oa] | fallit[oa] | non | scadenza | bonifico
        | ricevut[oa] | fino | sconto | codice | sarà | fattura | limite | annullat[oa]
        | offerta | vinci | scopri | puoi | richie\w{2,4} | prossim[oa]
        | geweigerd | mislukt | niet | vervalt | overschrijving | overgemaakt
        | ontvangen | korting | bevestig\w{0,2} | wordt | factuur | limiet | tikkie
        | verzoek | tot | kunt | gepland
        | recusad[oa] | negad[oa] | não | fatura | transferência | pix | recebid[oa]
        | até | desconto | boleto | agendad[oa] | cancelad[oa] | ganhe | aproveite
        | compra[ ](?:en|con(?![ ]tarjeta)|y|ya|ahora|tus?|online)
        | pode | declined | failed | OTP | win
    )\b
    | \d[ ]?% | \bh(?:tt|xx)ps?: | \bwww\.
    """,
    example="Kartenzahlung abgelehnt",
    flags=re.IGNORECASE,
)
_ENGLISH = pattern(
    r"\b(?:you|your|at|the|been|spent|purchase|payment|ending)\b",
    example="You paid £12.00 at",
    flags=re.IGNORECASE,
)
_BEHIND_PREPOSITION = r"""
    [ ](?-i:(?=[^\Wa-z\d_]|\d[A-Z]|[a-z0-9-]{2,30}\.[a-z]{2,3}\b))
    (?!
        (?:EUR|CHF|USD|BRL)[ ]?\d | (?:visa|mastercard|apple|google|girocard|maestro)\b
        | (?:ihre|deine)[rmn]?\b
    )
"""
_SHOP = pattern(
    rf"""
    (?:
        \b(?=(?-i:[abcepnBCP]))(?:bei|chez|presso|bij|en|em|an|al|no|na|nel)
        | (?<!\w)(?-i:[àa])
    ){_BEHIND_PREPOSITION}
    """,
    example="Has pagado 12,50 € en Panaderia",
    flags=re.IGNORECASE,
)
# From a shop; a payment from somebody is none.
_SHOP_OF_REFUND = pattern(
    rf"""
    \b(?=(?-i:[bcepnvd]))(?:bei|chez|presso|bij|en|em|von|da|van|de|du)
    {_BEHIND_PREPOSITION}
    """,
    example="Rückerstattung: 27,48 € von Rosenmarkt",
    flags=re.IGNORECASE,
)
_METHOD = (
    r"(?:karte|carte|carta|tarjeta|cart[ãa]o|kaart|pas|visa|mastercard|apple|google)"
)
_SHOP_END = pattern(
    rf"""
    [ ](?:
        bezahlt | gezahlt | ausgegeben | pay[ée]e? | pagado | pagato | betaald | pagou
        | aprovada | aprobada | wurden? | erfolgreich | effectuée? | réalisée?
        | ist | war | wird | hat | konnten? | a[ ]été | est | n['’]a | ha | fue | foi
        | sarà | è | is | werd | kon
        | (?:mit|avec|con|com|met|par|via|no|na|à|per)[ ](?:\w{{1,6}}[ ])?{_METHOD}
        | (?:am|um|le|il|el|op|om|à|a|alle|dia|du|del|vom|den|em|el[ ]día)[ ](?=\d)
        | (?:von|über|de|di|da|van|por|per|für|voor|pour)[ ]
          (?=[€£\d]|R\$|[A-Z]{{3}}[ ]?\d)
    )
    | [ ]?(?:(?<!\.[A-Z])[.](?:[ \n]|$) | ,[ ] | ; | \n | $ | \| | [ ]-[ ] | ! | : | \()
    | [ ](?=[€£]|R\$|\d{{1,4}},\d\d[ ]?€|\d{{1,2}}[./]\d{{1,2}}[ .])
    """,
    example="Rosenmarkt bezahlt",
    flags=re.IGNORECASE,
)
# 4.250 € is four thousand.
_GROUPED = pattern(r"(?<![\d.,])\d{1,3}\.\d{3}(?![\d.,])", example="4.250 €")
MAX_SHOP_LENGTH = 60
MAX_SHOPS = 8


class EuropeanPayment(NamedTuple):
    kind: Kind
    kind_span: Span
    # None in a text that has another meaning, or whose amount is not certain.
    money: MoneyMatch | None = None
    merchant: Span | None = None


def find_european_payment(
    text: str, money: MoneyMatch | None
) -> EuropeanPayment | None:
    """Read a text in one of the languages; None for texts without their words."""
    if " you" in text or text.startswith(("You", "Your")):
        return None
    refunded = _REFUNDED.search(text)
    event = refunded or _PAID.search(text)
    if event is None:
        return None
    kind = Kind.CANCELLATION if refunded else Kind.APPROVAL
    merchant = _find_shop(text, money, _SHOP_OF_REFUND if refunded else _SHOP)
    if _ENGLISH.search(_without(text, merchant)):
        return None
    if money is None or merchant is None or _is_other(text, merchant, money):
        return EuropeanPayment(kind, event.span())
    return EuropeanPayment(kind, event.span(), _with_grouped(text, money), merchant)


def _is_other(text: str, shop: Span, money: MoneyMatch) -> bool:
    """Return True if another word refuses, or $ stands for one of many currencies."""
    if text[slice(*money.currency_span)] == "$":
        return True
    return _OTHER_MESSAGE.search(_without(text, shop)) is not None


def _without(text: str, shop: Span | None) -> str:
    start, end = shop or (0, 0)
    return f"{text[:start]}{' ' * (end - start)}{text[end:]}"


def _find_shop(
    text: str, money: MoneyMatch | None, rule: re.Pattern[str]
) -> Span | None:
    for match in islice(rule.finditer(text), MAX_SHOPS):
        start = match.end()
        end = _SHOP_END.search(text, start + 1, start + MAX_SHOP_LENGTH)
        span = (start, end.start() if end else min(len(text), start + MAX_SHOP_LENGTH))
        is_amount = money and span[0] < money.span[1] and money.span[0] < span[1]
        if not is_amount:
            return span
    return None


def _with_grouped(text: str, money: MoneyMatch) -> MoneyMatch:
    if _GROUPED.search(text[slice(*money.span)]) and money.value < Decimal(1000):
        return money._replace(value=money.value * 1000)
    return money
