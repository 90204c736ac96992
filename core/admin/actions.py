"""Actions on rows of the admin: on those that were chosen, or on all of a filter."""

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, cast

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Q, QuerySet
from django.forms import BooleanField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from core.admin.base import MAX_COUNTED_ROWS, ReadOnlyAdmin
from core.admin.columns import Text
from core.admin.places import FILTERS_FIELD, add_list_query, read_list_query

MAX_BATCH_SIZE = 100
# An action on more would not end in time.
MAX_FOUND_ROWS = MAX_COUNTED_ROWS
# Rows that the question names; it tells the number of all.
MAX_NAMED_ROWS = 10
ORIGIN_FIELD = "from_page"
REASON_FIELD = "reason"
# The fingerprint of the rows that were asked about.
FOUND_FIELD = "found"
# Django's field: not the chosen rows, but all of the filter.
ACROSS_FIELD = "select_across"


@dataclass(frozen=True, slots=True)
class Action:
    label: Text
    # Reports its result by messages.
    apply: Callable[[HttpRequest, Collection[Any]], None]
    question: Text = ""
    has_effect_on: Callable[[Any], bool] = lambda row: True
    # Matches the rows that the action would change; None matches all.
    due: Q | None = None
    is_dangerous: bool = False
    # Value -> label of what the question asks for; the form sends it as `reason`.
    reasons: Mapping[str, Text] = field(default_factory=dict)
    is_open_to: Callable[[HttpRequest], bool] = lambda request: True
    # Returns the page that stands before the action, or None.
    guard: Callable[[HttpRequest, Any], HttpResponse | None] = (
        lambda request, model_admin: None
    )
    # False for an action that the page of a row offers in another way.
    is_on_page: bool = True


class RowLink(NamedTuple):
    """A button of a row that leads to a page of its own."""

    url: str
    label: Text
    is_dangerous: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The rows of an action, in the order of their keys."""

    ids: list[Any]
    # All that the filter finds.
    is_across: bool
    is_from_page: bool

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(",".join(map(str, self.ids)).encode())
        return f"{len(self.ids)}-{digest.hexdigest()[:16]}"


class ActionAdmin(ReadOnlyAdmin):
    row_actions: Mapping[str, Action] = {}
    max_batch_size = MAX_BATCH_SIZE
    # Redirect to the row's page after an action on one row.
    leads_to_row = False

    def describe_row(self, row: Any) -> str:
        return ""

    def may_act_on(self, request: HttpRequest, row: Any) -> bool:
        return True

    def list_row_links(self, request: HttpRequest, row: Any) -> list[RowLink]:
        """Return the pages beside the actions of a row."""
        return []

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {
            name: (partial(run_or_ask, name), name, action.label)
            for name, action in self.row_actions.items()
            if action.is_open_to(request)
        }

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any
    ) -> HttpResponse:
        row = context["original"]
        if row is not None and self.may_act_on(request, row):
            context["row_actions"] = {
                name: action
                for name, action in self.row_actions.items()
                if action.is_on_page
                and action.has_effect_on(row)
                and action.is_open_to(request)
            }
            context |= {"checkbox": ACTION_CHECKBOX_NAME, "origin_field": ORIGIN_FIELD}
            context |= {
                "row_links": self.list_row_links(request, row),
                "filters_field": FILTERS_FIELD,
                "list_query": read_list_query(request, is_list=False),
            }
        return super().render_change_form(request, context, *args, **options)


def run_or_ask(
    name: str, model_admin: ActionAdmin, request: HttpRequest, rows: QuerySet[Any]
) -> HttpResponse | None:
    """Run an action, after its question; None leads back to the list as it was."""
    action = model_admin.row_actions[name]
    if (page := action.guard(request, model_admin)) is not None:
        return page
    choice = read_choice(model_admin, request, rows)
    if choice is None:
        return None
    is_confirmed = "confirmed" in request.POST
    lacks_reason = bool(action.reasons) and (
        request.POST.get(REASON_FIELD) not in action.reasons
    )
    is_other = choice.is_across and request.POST.get(FOUND_FIELD) != choice.fingerprint
    is_asked = bool(action.question) or choice.is_across
    if is_asked and (not is_confirmed or lacks_reason or is_other):
        if is_confirmed and is_other:
            messages.warning(request, tell_of_change(len(choice.ids)))
        return ask(name, model_admin, request, choice, is_confirmed and lacks_reason)
    action.apply(request, choice.ids)
    if choice.is_from_page:
        # None shows the list.
        return lead_to_row(model_admin, request, choice.ids[0])
    return None


def read_choice(
    model_admin: ActionAdmin, request: HttpRequest, rows: QuerySet[Any]
) -> Choice | None:
    """Return the rows; tell why there are none, or too many of them."""
    # Django's own form reads the value in the same way.
    is_across = BooleanField(required=False).to_python(request.POST.get(ACROSS_FIELD))
    limit = MAX_FOUND_ROWS if is_across else model_admin.max_batch_size
    rows = rows.prefetch_related(None).order_by("pk")
    ids = list(rows.values_list("pk", flat=True)[: limit + 1])
    if len(ids) > limit and is_across:
        text = gettext(
            "The filter finds more than {count} rows. Narrow it down. "
            "Nothing has been changed."
        )
        messages.error(request, text.format(count=f"{limit:,}"))
        return None
    if len(ids) > limit:
        text = gettext("Select at most {count} rows.")
        messages.error(request, text.format(count=limit))
        return None
    chosen = len(set(request.POST.getlist(ACTION_CHECKBOX_NAME)))
    if not is_across and (missing := chosen - len(ids)):
        text = ngettext(
            "{count} chosen row is gone, or no longer in this list.",
            "{count} chosen rows are gone, or no longer in this list.",
            missing,
        )
        messages.warning(request, text.format(count=missing))
    if not ids:
        text = gettext("There is no row to change. Nothing has been changed.")
        messages.error(request, text)
        return None
    is_one = len(ids) == 1 and not is_across
    is_from_page = is_one and (ORIGIN_FIELD in request.POST or model_admin.leads_to_row)
    return Choice(ids, is_across, is_from_page)


def tell_of_change(count: int) -> str:
    text = ngettext(
        "The list has changed since you were asked: it has {count} row now. "
        "Nothing has been changed.",
        "The list has changed since you were asked: it has {count} rows now. "
        "Nothing has been changed.",
        count,
    )
    return text.format(count=f"{count:,}")


def ask(
    name: str,
    model_admin: ActionAdmin,
    request: HttpRequest,
    choice: Choice,
    lacks_reason: bool,
) -> HttpResponse:
    """Show the question, with the number of rows; the filter stays in the address."""
    list_query = read_list_query(request)
    limit = MAX_NAMED_ROWS if choice.is_across else len(choice.ids)
    named = model_admin.get_queryset(request).filter(pk__in=choice.ids[:limit])
    if isinstance(model_admin.list_select_related, list):
        named = named.select_related(*model_admin.list_select_related)
    due_count = len(choice.ids)
    if (due := model_admin.row_actions[name].due) is not None:
        chosen = model_admin.get_queryset(request).filter(pk__in=choice.ids)
        due_count = chosen.filter(due).count()
    list_url = add_list_query(model_admin.get_list_url(), list_query)
    is_on_page = choice.is_from_page and ORIGIN_FIELD in request.POST
    context = {
        **model_admin.admin_site.each_context(request),
        "title": model_admin.row_actions[name].label,
        "opts": model_admin.opts,
        "row_action": model_admin.row_actions[name],
        "action_name": name,
        "selected": [
            (
                row.pk,
                model_admin.get_object_name(row),
                model_admin.describe_row(row),
            )
            for row in named.order_by("pk")
        ],
        # Django wants a chosen row beside `select_across`.
        "sent_ids": choice.ids[:1] if choice.is_across else choice.ids,
        "count": len(choice.ids),
        "due_count": due_count,
        "done_count": len(choice.ids) - due_count,
        "unnamed_count": len(choice.ids) - min(limit, len(choice.ids)),
        "across_field": ACROSS_FIELD if choice.is_across else "",
        "found_field": FOUND_FIELD,
        "found": choice.fingerprint,
        "checkbox": ACTION_CHECKBOX_NAME,
        "origin_field": ORIGIN_FIELD if is_on_page else "",
        "filters_field": FILTERS_FIELD,
        "list_query": list_query,
        "list_url": list_url,
        "form_url": request.get_full_path(),
        "cancel_url": get_row_url(model_admin, choice.ids[0], list_query)
        if is_on_page
        else list_url,
        "reason_field": REASON_FIELD,
        "lacks_reason": lacks_reason,
    }
    return TemplateResponse(request, "admin/confirm_action.html", context)


def lead_to_row(
    model_admin: ActionAdmin, request: HttpRequest, row_id: Any
) -> HttpResponse:
    """Lead to the page of a row, or to the list that it was opened from."""
    list_query = read_list_query(request)
    if model_admin.get_queryset(request).filter(pk=row_id).exists():
        return HttpResponseRedirect(get_row_url(model_admin, row_id, list_query))
    url = add_list_query(model_admin.get_list_url(), list_query)
    return HttpResponseRedirect(url)


def get_row_url(model_admin: ActionAdmin, row_id: Any, list_query: str) -> str:
    url = reverse(f"admin:{model_admin.view_name('change')}", args=[row_id])
    return add_list_query(url, list_query, name=FILTERS_FIELD)


def get_actor(request: HttpRequest) -> Any:
    return cast("Any", request.user)
