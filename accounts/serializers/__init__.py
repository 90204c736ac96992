"""Wire shapes of members and sessions."""
