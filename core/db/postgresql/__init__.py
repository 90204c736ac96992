"""Django's database backend with a circuit breaker and a watchdog."""
