"""Login, the second factor and fresh authentication."""
