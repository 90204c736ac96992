"""The stores, the supervisor and the environment of `script/*`, never in production."""
