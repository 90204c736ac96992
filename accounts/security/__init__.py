"""Security log, audit log, rate limits."""
