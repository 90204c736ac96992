"""Examples of the ledger in the OpenAPI document.

All are about one household on 20 November 2026. An id is used once, whatever its kind.
"""

from ledger.backup import examples as files
from ledger.budgets import examples as budgets
from ledger.bulk import examples as bulk
from ledger.categories import examples as categories
from ledger.changes import examples as changes
from ledger.entries import examples as entries
from ledger.export import examples as exports
