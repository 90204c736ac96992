"""A second opinion on a text, learned from labeled ones (README.md)."""
