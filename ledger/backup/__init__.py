"""Backup and restore of one member's ledger (service.md, Restore rules)."""
