"""Wire shapes of the ledger, one module for each topic."""
