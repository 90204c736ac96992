"""A realistic ledger for demonstrations, with data for every page."""
