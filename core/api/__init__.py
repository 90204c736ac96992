"""The machinery of the JSON interface: one module for each policy."""
