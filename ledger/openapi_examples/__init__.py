"""Examples of the ledger in the OpenAPI document, one module per topic.

All of them are about one household on 20 November 2026. A number is the id of one thing
only, whatever its kind.
"""

from ledger.openapi_examples import (
    budgets,
    card_notifications,
    categories,
    entries,
    files,
    investments,
    recurring,
    tags,
    wallets,
)

EXAMPLES = (
    wallets.EXAMPLES
    | categories.EXAMPLES
    | tags.EXAMPLES
    | entries.EXAMPLES
    | card_notifications.EXAMPLES
    | recurring.EXAMPLES
    | budgets.EXAMPLES
    | investments.EXAMPLES
    | files.EXAMPLES
)
