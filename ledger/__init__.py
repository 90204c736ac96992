"""The personal ledger of each member."""
