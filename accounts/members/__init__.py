"""Members: search, counters, serializers."""
