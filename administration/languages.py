"""The language of the pages of staff."""

from typing import Any

from django.http import HttpRequest

from core.languages import choose_language_of, names_language


def get_staff_language(request: HttpRequest) -> str:
    """Return the browser's language, else the member's."""
    user: Any = request.user
    if user.is_authenticated and not names_language(request):
        language: str = user.locale
        return language
    return choose_language_of(request)
