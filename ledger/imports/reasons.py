"""Sentences that tell a person why a row has its status."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from ledger.imports.judging import Reason

SENTENCES: dict[str, Promise] = {
    Reason.NEW: gettext_lazy("The ledger has no such entry."),
    Reason.KNOWN: gettext_lazy("The row was imported before."),
    Reason.KNOWN_DELETED: gettext_lazy(
        "The row was imported before, and its entry was deleted."
    ),
    Reason.REPEATED: gettext_lazy("The row stands in the file twice."),
    Reason.SAME_PAYMENT: gettext_lazy(
        "The ledger has an entry of this wallet and amount on about the same day."
    ),
    Reason.SIDE_OF_TRANSFER: gettext_lazy("The row is the other side of a transfer."),
    Reason.TWO_ROWS: gettext_lazy("Two rows of the file are one transfer."),
    Reason.OTHER_SIDE: gettext_lazy("The row is the second one of a transfer."),
    Reason.WITH_ENTRY: gettext_lazy(
        "The row and an entry of another wallet are one transfer."
    ),
    Reason.BOTH_WALLETS: gettext_lazy("The row names both wallets of a transfer."),
    Reason.NO_OTHER_SIDE: gettext_lazy(
        "The row says that it is a transfer, and nothing names the other wallet. "
        "Without one it counts in no statistics."
    ),
    Reason.OPENING: gettext_lazy("The row is the first balance of its wallet."),
    Reason.CANCELLED: gettext_lazy("The purchase and its cancellation leave nothing."),
    Reason.CAME_BACK: gettext_lazy("The row is money that came back from an expense."),
    Reason.UNREADABLE: gettext_lazy("The row cannot be read."),
}
