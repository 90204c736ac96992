"""The ledger as a journal of plain-text accounting."""
