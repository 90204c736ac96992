"""The language of the pages of staff."""

from django.http import HttpRequest

from core.languages import choose_language


def get_staff_language(request: HttpRequest) -> str:
    """Return the language in which the pages are shown to the staff member.

    The one that the browser prefers. The only place that decides it.
    """
    return choose_language(request.headers.get("Accept-Language", ""))
