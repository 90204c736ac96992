"""Sign-up and its switch."""
