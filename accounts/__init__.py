"""Members and their access."""
