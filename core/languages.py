"""The language of texts for clients, by the header Accept-Language (spec 1.6)."""

import functools

from django.conf import settings
from django.utils.translation.trans_real import parse_accept_lang_header

# Of the header; what comes after names languages that hardly anybody reads.
MAX_HEADER_CHARACTERS = 200


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
