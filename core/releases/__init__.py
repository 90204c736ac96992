"""Released migrations never change."""
