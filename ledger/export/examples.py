"""Examples of exports."""

from core.api.examples import Example, invalid

EXAMPLES = {
    "exportLedger": Example(
        query={"format": "csv", "from": "2026-11-01", "to": "2026-11-30"},
        refusal=invalid(
            "from",
            "invalid",
            "This format has the whole ledger.",
            query={"format": "json", "from": "2026-11-01"},
        ),
    ),
}
