"""Backup and restore of one ledger (spec 3.17, 3.18)."""
