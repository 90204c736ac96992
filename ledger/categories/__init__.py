"""Categories of two levels."""
