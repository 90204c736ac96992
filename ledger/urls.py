"""URLs below /api/account."""
