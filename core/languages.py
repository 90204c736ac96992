"""The language of texts for clients (spec 1.6)."""

import functools

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

MAX_HEADER_CHARACTERS = 200


def choose_language(accept_language: str) -> str:
    """Return `ko` for `ko-KR`, the default for unknown languages."""
    return _choose_language(accept_language[:MAX_HEADER_CHARACTERS])


def choose_language_of(request: HttpRequest) -> str:
    return choose_language(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))


def names_language(request: HttpRequest) -> bool:
    return bool(request.META.get("HTTP_ACCEPT_LANGUAGE"))


def use_language_of_member(request: HttpRequest, language: str) -> None:
    """Activate the member's language for a request that names none.

    `core.middleware.LanguageMiddleware` deactivates it.
    """
    if language != settings.LANGUAGE_CODE and not names_language(request):
        translation.activate(language)
        request.has_language_of_member = True  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=256)
def _choose_language(accept_language: str) -> str:
    for tag, quality in parse_accept_lang_header(accept_language):
        language = tag.partition("-")[0]
        if quality > 0 and language in dict(settings.LANGUAGES):
            return language
    return settings.LANGUAGE_CODE
