"""Reads a whole ledger from the JSON of `/export` (spec 3.28, 3.29)."""
