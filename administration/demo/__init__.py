"""Demo data of a whole installation."""
