"""Sums of entries, kept beside them."""
