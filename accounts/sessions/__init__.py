"""Sessions (spec 2.6)."""
