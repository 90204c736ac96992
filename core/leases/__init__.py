"""Leases: locks that outlive a transaction, held in rows instead of sessions."""
