"""Print the lines of `tests/core/releases/released.txt` for this release."""

import os
import secrets
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(64))
django.setup()

from core.releases.hashes import list_hashes  # noqa: E402

sys.stdout.writelines(
    f"{app} {name} {sha256}\n" for (app, name), sha256 in sorted(list_hashes().items())
)
