"""Profile, avatar and points."""
