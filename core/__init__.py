"""The kernel: imports no app."""
