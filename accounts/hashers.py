"""Password hasher."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class LowMemoryArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id with OWASP's parameters: 19 MiB, two passes, one lane."""

    # Django's default takes 100 MiB for each hash: a few concurrent logins would
    # exhaust the memory of a small server.
    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1
