"""Examples of the ledger in the OpenAPI document.

All are about one household on 20 November 2026. An id is used once, whatever its kind.
"""

from ledger.backup import examples as files
from ledger.budgets import examples as budgets
from ledger.bulk import examples as bulk
from ledger.cards import examples as cards
from ledger.cards import installment_examples as installments
from ledger.categories import examples as categories
from ledger.changes import examples as changes
from ledger.entries import examples as entries
from ledger.export import examples as exports
from ledger.imports import examples as imports
from ledger.investments import examples as investments
from ledger.notifications import examples as card_notifications
from ledger.operations import examples as operations
from ledger.recurring import examples as recurring
from ledger.tags import examples as tags
from ledger.wallets import examples as wallets

EXAMPLES = (
    wallets.EXAMPLES
    | categories.EXAMPLES
    | tags.EXAMPLES
    | entries.EXAMPLES
    | cards.EXAMPLES
    | bulk.EXAMPLES
    | changes.EXAMPLES
    | operations.EXAMPLES
    | card_notifications.EXAMPLES
    | recurring.EXAMPLES
    | budgets.EXAMPLES
    | installments.EXAMPLES
    | investments.EXAMPLES
    | imports.EXAMPLES
    | files.EXAMPLES
    | exports.EXAMPLES
)
