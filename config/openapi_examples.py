"""The examples of all apps."""

from typing import Any

import accounts.announcements.examples
import accounts.inbox.examples
import accounts.legal.examples
import accounts.openapi_examples
import accounts.security_examples
import administration.log_examples
import administration.openapi_examples
import billing.openapi_examples
import board.moderation.examples
import board.openapi_examples
import core.openapi_examples
import ledger.openapi_examples
from core.api.examples import add_examples

EXAMPLES = (
    core.openapi_examples.EXAMPLES
    | accounts.openapi_examples.EXAMPLES
    | accounts.security_examples.EXAMPLES
    | accounts.announcements.examples.EXAMPLES
    | accounts.inbox.examples.EXAMPLES
    | accounts.legal.examples.EXAMPLES
    | ledger.openapi_examples.EXAMPLES
    | board.openapi_examples.EXAMPLES
    | board.moderation.examples.EXAMPLES
    | billing.openapi_examples.EXAMPLES
    | administration.openapi_examples.EXAMPLES
    | administration.log_examples.EXAMPLES
)


def add_all_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add an example to each operation (a hook of drf-spectacular)."""
    return add_examples(result, EXAMPLES)
