"""The place in a list that a page of staff leads back to: filter, search, order, page.

Django carries it as the query of the list, in the parameter `_changelist_filters`.
"""

from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict

FILTERS_FIELD = "_changelist_filters"
MAX_QUERY_LENGTH = 2_000
# Page, order and an error of Django's lists.
NO_FILTERS = frozenset({"p", "o", "e"})


def read_list_query(request: HttpRequest, *, is_list: bool = True) -> str:
    """Return the query of the list that the request came from, "" for none.

    The list itself has it in its address, the page of a row in the parameter, and the
    forms of both in a field.
    """
    sent = request.POST.get(FILTERS_FIELD) or request.GET.get(FILTERS_FIELD)
    if sent:
        query = QueryDict(sent).urlencode()
    else:
        query = request.GET.urlencode() if is_list else ""
    return query if len(query) <= MAX_QUERY_LENGTH else ""


def add_list_query(url: str, list_query: str, *, name: str = "") -> str:
    """Add the query of a list to its own address, or as the parameter of a page."""
    if not list_query:
        return url
    return f"{url}?{urlencode({name: list_query}) if name else list_query}"


def list_filters(request: HttpRequest) -> dict[str, str]:
    """Return the filters and the search of a list by their names."""
    query = request.GET.dict()
    return {name: value for name, value in query.items() if name not in NO_FILTERS}
