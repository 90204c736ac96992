"""Mails to members (spec 2.10)."""
