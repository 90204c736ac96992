"""PostgreSQL: the backend, transactions, locks."""
