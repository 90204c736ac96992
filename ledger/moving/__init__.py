"""Moves to another wallet or category before a deletion."""
