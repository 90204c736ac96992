"""Blocks between members (spec 5.9)."""
