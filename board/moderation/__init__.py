"""Reports, cases and what staff do about them (spec 5.10, 5.11)."""
