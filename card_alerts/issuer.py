"""The row of the issuer tables."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Issuer:
    """A card company, bank or pay service; each is one object, compared as such."""

    name: str
    aliases: tuple[str, ...] = ()
    # Everyday words (우리, 하나) name the company only before a card word, digit or
    # bracket.
    ambiguous_aliases: tuple[str, ...] = ()
    # A card in the same text takes precedence over an app.
    app_aliases: tuple[str, ...] = ()
    latin_aliases: tuple[str, ...] = ()
    # Phone numbers, digits only.
    senders: tuple[str, ...] = ()
    # Parts of an Android package begin so: "kbcard" in com.kbcard.cxh.
    packages: tuple[str, ...] = ()
    # Messages that name no company begin so.
    phrases: tuple[str, ...] = ()
    # The same text may name the charged card.
    is_pay_service: bool = False
    dollar_currency: str = "USD"
    # The currency of P, N or Rs in its messages; a namesake has another one.
    currency: str = ""
    # Names of an issuer of another country, too: those with its currency are its own.
    shared_aliases: tuple[str, ...] = ()
    # 05/06 is the 5th of June in any currency.
    is_day_first: bool = False
