"""Serializers of the ledger, one module per topic."""
