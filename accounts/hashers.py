"""How passwords are hashed."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class LowMemoryArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2id at 19 MiB, two passes, one lane: OWASP's parameters.

    Django's own need 100 MiB a hash, so that a few logins at once fill a server.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1
