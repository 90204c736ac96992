"""The baseline: the same tables and responses with plain Django and DRF."""
