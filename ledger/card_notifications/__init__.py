"""Card notifications: from the text of a message to a pending entry."""
