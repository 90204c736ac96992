"""Views of the ledger, one module per topic."""
