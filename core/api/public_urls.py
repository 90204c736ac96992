"""Absolute URLs of this service."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.encoding import iri_to_uri
from rest_framework.request import Request


def build_public_url(request: HttpRequest | Request, path: str) -> str:
    """Return the URL at PUBLIC_URL, else at the host that the client has named."""
    if settings.HAS_PUBLIC_URL:
        return f"{settings.PUBLIC_URL}{iri_to_uri(path)}"
    return str(request.build_absolute_uri(path))
