"""The personal ledger of each member, isolated from all others."""
