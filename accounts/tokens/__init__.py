"""Personal tokens with scopes."""
