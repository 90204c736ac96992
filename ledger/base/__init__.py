"""Writes, ownership, quotas and fields of all topics."""
