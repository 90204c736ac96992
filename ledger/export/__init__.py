"""Export of a ledger in open formats (spec 3.28)."""
