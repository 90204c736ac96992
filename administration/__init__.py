"""The administrators' area: switches, default categories, Django admin."""
