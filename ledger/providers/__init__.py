"""Outside services of the ledger: each behind a small protocol."""
