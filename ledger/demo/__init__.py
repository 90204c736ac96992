"""A believable ledger for demonstrations, so that every page has something to show."""
