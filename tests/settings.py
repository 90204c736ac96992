"""The settings of the test run: the real ones, with cheap hashes and a quiet log."""

import os

os.environ["SERVE_STATIC_FROM_SOURCE"] = "true"
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "x" * 50)
os.environ.setdefault("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")

from config.settings import *
from config.settings import LOGGING

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING["root"]["level"] = "WARNING"
