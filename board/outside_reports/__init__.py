"""Reports of people without an account (spec 5.13)."""
