"""Entries from texts of card companies and banks."""
