"""The kernel: what every app stands on; it imports no app."""
