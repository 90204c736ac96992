"""Password hasher."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class LowMemoryArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: Django's 100 MiB exhaust a small server."""

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1
