"""Codes by mail (spec 2.10)."""
