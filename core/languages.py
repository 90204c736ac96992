"""The language of texts for clients, by the header Accept-Language (spec 1.6)."""

import functools

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from core.middleware import GetResponse

# Of the header; what comes after names languages that hardly anybody reads.
MAX_HEADER_CHARACTERS = 200
# Django admin is in English.
ADMIN_PREFIX = "/admin"


class LanguageMiddleware:
    """Activates the language that the client prefers, English without one.

    Texts of validators are made where they fail, so the language is known before. To
    activate English is not needed, since it is the language of the source.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        language = choose_language(request.META.get("HTTP_ACCEPT_LANGUAGE", ""))
        is_admin = request.path_info.startswith(ADMIN_PREFIX)
        if language == settings.LANGUAGE_CODE or is_admin:
            return self.get_response(request)
        with translation.override(language):
            return self.get_response(request)


def choose_language(accept_language: str) -> str:
    """Return the code of the language that a client prefers among those there are.

    `ko-KR` is `ko`. Malformed headers, and those that name none of the languages, are
    answered in the default language.
    """
    return _choose_language(accept_language[:MAX_HEADER_CHARACTERS])


@functools.lru_cache(maxsize=256)
def _choose_language(accept_language: str) -> str:
    for tag, quality in parse_accept_lang_header(accept_language):
        language = tag.partition("-")[0]
        if quality > 0 and language in dict(settings.LANGUAGES):
            return language
    return settings.LANGUAGE_CODE
