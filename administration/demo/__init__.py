"""Demonstration data of a whole installation: members, board, purchases, figures."""
