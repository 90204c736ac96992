"""Leases: locks in rows, which outlive a transaction."""
