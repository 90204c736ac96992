"""PostgreSQL and Valkey from wheels, the supervisor and the environment of `script/*`.

Development and tests only: the production image does not contain it.
"""
