"""Backup and restore of one member's ledger (spec 3.17, 3.18)."""
