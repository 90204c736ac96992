"""Templates that a member books with one tap."""
