"""One row of the table of issuers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Issuer:
    """A company and how messages write it.

    An `everyday` word (우리, 하나) means the company only where a card word, a
    digit or a sign follows. A `pay_service` or a name in `apps` gives way to the
    card that the same text names. `senders` are digits; `packages` stand at the
    start, or behind a dot, in the names of phone apps. `dollar` is what a bare $
    means in its messages, `day_first` whether 05/06 is the 5th of June whatever
    the currency. `phrases` identify messages that do not name the company at all.
    """

    name: str
    aliases: tuple[str, ...] = ()
    ambiguous_aliases: tuple[str, ...] = ()
    app_aliases: tuple[str, ...] = ()
    senders: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    is_pay_service: bool = False
    dollar_currency: str = "USD"
    day_first: bool = False
