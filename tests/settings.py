"""The settings of the test run: the real ones, with cheap hashes and a quiet log."""

import os

os.environ["SERVE_STATIC_FROM_SOURCE"] = "true"
os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "x" * 50)
os.environ.setdefault("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:1/0")
# No test reaches an outside service: each puts a loopback server in its place.
os.environ["FX_BASE_URL"] = os.environ["OCR_BASE_URL"] = "http://127.0.0.1:1"
os.environ["PRICE_BASE_URL"] = "http://127.0.0.1:1"
os.environ["STORE_BASE_URL"] = "http://127.0.0.1:1"
os.environ["STORE_VERIFIER"] = os.environ["STORE_PUSH_AUDIENCE"] = ""
os.environ["BILLING_TEST_MODE"] = ""
os.environ["PRICE_PROVIDER"] = os.environ["FX_PROVIDER"] = os.environ["OCR_API_KEY"] = (
    ""
)

os.environ["IMAGE_STORE"] = os.environ["S3_BUCKET"] = ""

from config.settings import *
from config.settings import LOGGING

# Read by the tests that publish documents alone.
LEGAL_CACHE_SECONDS = 10**9
SWITCH_CACHE_SECONDS = 10**9
ANNOUNCEMENT_CACHE_SECONDS = 10**9
# Tests in a transaction see no rows of another thread.
MAIL_CONNECTIONS = 1
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING["root"]["level"] = "WARNING"
