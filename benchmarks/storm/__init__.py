"""Random writes while processes and stores are killed."""
