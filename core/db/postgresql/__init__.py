"""Django's PostgreSQL backend with a breaker in front of its pool."""
