"""The language of texts for clients, by the header Accept-Language (spec 1.6)."""

import functools

from django.conf import settings
from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

# Of the header; what comes after names languages that hardly anybody reads.
MAX_HEADER_CHARACTERS = 200


def choose_language(accept_language: str) -> str:
    """Return the code of the language that a client prefers among those there are.

    `ko-KR` is `ko`. Malformed headers, and those that name none of the languages, are
    answered in the default language.
    """
    return _choose_language(accept_language[:MAX_HEADER_CHARACTERS])


def choose_language_of(request: HttpRequest) -> str:
    """Return the code of the language that the client of the request prefers."""
    return choose_language(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))


def names_language(request: HttpRequest) -> bool:
    """Return True if the client says which languages it prefers."""
    return bool(request.META.get("HTTP_ACCEPT_LANGUAGE"))


def use_language_of_member(request: HttpRequest, language: str) -> None:
    """Use the member's language for the rest of a request that names none.

    `core.middleware.LanguageMiddleware` ends it with the request.
    """
    if language != settings.LANGUAGE_CODE and not names_language(request):
        translation.activate(language)


@functools.lru_cache(maxsize=256)
def _choose_language(accept_language: str) -> str:
    for tag, quality in parse_accept_lang_header(accept_language):
        language = tag.partition("-")[0]
        if quality > 0 and language in dict(settings.LANGUAGES):
            return language
    return settings.LANGUAGE_CODE
