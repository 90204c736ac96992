"""The peer: the same tables and answers by plain Django and REST framework."""
