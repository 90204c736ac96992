"""The row type of the issuer tables."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issuer:
    """A card company, bank or pay service, and how messages write its name."""

    name: str
    aliases: tuple[str, ...] = ()
    # Everyday words (우리, 하나), which mean the company only before a card word, a
    # digit or a bracket.
    ambiguous_aliases: tuple[str, ...] = ()
    # Names of its apps, which give way to a card that the same text names.
    app_aliases: tuple[str, ...] = ()
    # Its names in English alerts, which Korean texts do not print.
    latin_aliases: tuple[str, ...] = ()
    # Phone numbers of senders, digits only.
    senders: tuple[str, ...] = ()
    # Beginnings of a part of an Android package name: "kbcard" in com.kbcard.cxh.
    packages: tuple[str, ...] = ()
    # Beginnings of messages that do not name the company at all.
    phrases: tuple[str, ...] = ()
    # A pay service pays with some card, which the same text may name.
    is_pay_service: bool = False
    # The currency of a bare $ in its messages.
    dollar_currency: str = "USD"
    # 05/06 is the 5th of June, whatever the currency.
    is_day_first: bool = False
