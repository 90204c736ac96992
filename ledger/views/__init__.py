"""The views of the ledger, one module for each topic."""
