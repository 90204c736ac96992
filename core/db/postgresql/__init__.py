"""The database backend: Django's own, with a circuit breaker and a watchdog."""
