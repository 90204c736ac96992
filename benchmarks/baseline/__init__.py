"""The same tables and responses with plain Django and DRF."""
