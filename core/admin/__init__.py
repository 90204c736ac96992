"""Base classes of the Django admin."""
