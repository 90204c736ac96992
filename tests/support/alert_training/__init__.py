"""Training of the second opinion of `card_alerts` from the labeled messages."""
