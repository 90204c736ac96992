"""Actions on rows of the admin."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext

from core.admin.base import ReadOnlyAdmin
from core.admin.columns import Text

MAX_BATCH_SIZE = 100
ORIGIN_FIELD = "from_page"
REASON_FIELD = "reason"


@dataclass(frozen=True, slots=True)
class Action:
    label: Text
    # Reports its result by messages.
    apply: Callable[[HttpRequest, Collection[Any]], None]
    question: Text = ""
    has_effect_on: Callable[[Any], bool] = lambda row: True
    is_dangerous: bool = False
    # Value -> label of what the question asks for; the form sends it as `reason`.
    reasons: Mapping[str, Text] = field(default_factory=dict)
    is_open_to: Callable[[HttpRequest], bool] = lambda request: True


class ActionAdmin(ReadOnlyAdmin):
    row_actions: Mapping[str, Action] = {}
    max_batch_size = MAX_BATCH_SIZE
    # Redirect to the row's page after an action on one row.
    leads_to_row = False

    def describe_row(self, row: Any) -> str:
        return ""

    def may_act_on(self, request: HttpRequest, row: Any) -> bool:
        return True

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
                if action.has_effect_on(row) and action.is_open_to(request)
            }
            context |= {"checkbox": ACTION_CHECKBOX_NAME, "origin_field": ORIGIN_FIELD}
        return super().render_change_form(request, context, *args, **options)


def run_or_ask(
    name: str, model_admin: ActionAdmin, request: HttpRequest, rows: QuerySet[Any]
) -> HttpResponse | None:
    action = model_admin.row_actions[name]
    rows = rows.prefetch_related(None).order_by("pk")
    limit = model_admin.max_batch_size
    ids = list(rows.values_list("pk", flat=True)[: limit + 1])
    is_from_page = len(ids) == 1 and (
        ORIGIN_FIELD in request.POST or model_admin.leads_to_row
    )
    if len(ids) > limit:
        messages.error(
            request, gettext("Select at most {count} rows.").format(count=limit)
        )
        return None
    lacks_reason = bool(action.reasons) and (
        request.POST.get(REASON_FIELD) not in action.reasons
    )
    if action.question and ("confirmed" not in request.POST or lacks_reason):
        context = {
            **model_admin.admin_site.each_context(request),
            "title": action.label,
            "opts": model_admin.opts,
            "row_action": action,
            "action_name": name,
            "selected": [
                (
                    row.pk,
                    model_admin.get_object_name(row),
                    model_admin.describe_row(row),
                )
                for row in model_admin.get_queryset(request)
                .filter(pk__in=ids)
                .order_by("pk")
            ],
            "checkbox": ACTION_CHECKBOX_NAME,
            "origin_field": ORIGIN_FIELD if is_from_page else "",
            "reason_field": REASON_FIELD,
            "lacks_reason": lacks_reason and "confirmed" in request.POST,
        }
        return TemplateResponse(request, "admin/confirm_action.html", context)
    action.apply(request, ids)
    # None shows the list.
    if is_from_page and model_admin.get_queryset(request).filter(pk=ids[0]).exists():
        view = f"admin:{model_admin.view_name('change')}"
        return HttpResponseRedirect(reverse(view, args=[ids[0]]))
    return None


def get_actor(request: HttpRequest) -> Any:
    return cast("Any", request.user)
