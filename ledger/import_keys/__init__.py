"""Keys of imported rows, which outlive their entries (spec 3.29)."""
