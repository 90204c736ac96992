"""Cases in Django admin: the queue, and the page on which staff decide."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Left
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from accounts.models import Member
from board.admin_columns import AUTHOR_PREFIX
from board.errors import AlreadyResolvedError, NotYourCaseError
from board.locking import MAX_ID
from board.models import ModerationCase, OutsideReport
from board.moderation.case_context import build_context, make_form
from board.moderation.case_page import CasePage, get_case_page
from board.moderation.decisions import resolve_case
from board.moderation.forms import JudgementForm
from board.moderation.labels import (
    KINDS,
    OUTCOMES,
    REASONS,
    STATUSES,
    TARGETS,
    name_judge,
)
from board.moderation.queue import find_next_case, has_open_cases
from core.admin.actions import get_actor
from core.admin.base import ReadOnlyAdmin
from core.admin.columns import (
    MAX_TEXT_CHARACTERS,
    Column,
    badge_column,
    format_time,
    number_column,
    shorten,
    text_column,
    time_column,
)
from core.admin.filters import badge_filter
from core.api.permissions import ModeratorRequiredError
from core.api.preconditions import VersionConflictError
from core.errors import InvalidFieldError, NotFoundError

Status = ModerationCase.Status
AFTER_PARAMETER = "after"


class StatusFilter(admin.SimpleListFilter):
    """Open cases unless others are asked for: the list is the queue."""

    title = _("State")
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[Any]:
        return [(Status.RESOLVED.value, STATUSES[Status.RESOLVED][0])]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(status=self.value() or Status.OPEN)

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": STATUSES[Status.OPEN][0]}
        yield from others


def describe_target(case: Any) -> str:
    text = shorten(case.title or case.beginning)
    name = f"{TARGETS[case.target_type][0]} {case.target_id}"
    return f"{name}: {text}" if text else name


def name_author(case: ModerationCase) -> str:
    return case.author.login_id if case.author else ""


NUMBER = text_column("id", _("Number"), order="id")
KIND = badge_column("kind", _("Kind"), KINDS)
REASON = badge_column("reason", _("Reason"), REASONS)
TARGET = Column("target", _("About"), describe_target)
AUTHOR = Column("author", _("Author"), name_author)
# Of members, and from outside.
REPORTS = number_column("all_report_count", _("Reports"))
OPENED = time_column("opened_at", _("Opened"))


class ModerationCaseAdmin(ReadOnlyAdmin):
    list_display = [NUMBER, KIND, REASON, TARGET, AUTHOR, REPORTS, OPENED]
    list_display_links = [NUMBER, TARGET]
    list_filter = [
        StatusFilter,
        badge_filter("kind", _("Kind"), KINDS),
        badge_filter("reason", _("Reason"), REASONS),
    ]
    list_select_related = ["author"]
    # Django shows the field; `get_search_results` searches.
    search_fields = ["id"]
    search_help_text = _("Number of a case, or @login ID of the author.")
    export_columns = list_display
    change_list_template = "admin/moderation_queue.html"
    page_template = "admin/moderation_case.html"

    def get_object_name(self, row: ModerationCase) -> str:
        return gettext("Case {id}").format(id=row.pk)

    def get_ordering(self, request: HttpRequest) -> list[Any]:
        # As in the API: the queue begins with the oldest.
        return ["-id"] if StatusFilter.parameter_name in request.GET else ["id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        rows = rows.exclude(status=Status.WAITING)
        outside = OutsideReport.objects.filter(case=OuterRef("pk")).order_by()
        count = outside.values("case").values(number=Count("pk"))
        rows = rows.annotate(
            beginning=Left("content", MAX_TEXT_CHARACTERS),
            all_report_count=F("report_count") + Coalesce(Subquery(count), 0),
        )
        return rows.defer("content", "author__profile_image", "author__password")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if term.startswith(AUTHOR_PREFIX):
            login_id = term.removeprefix(AUTHOR_PREFIX)
            authors = Member.objects.with_login_id(login_id).only("id")
            return queryset.filter(author__in=list(authors)), False
        if self.is_id(term) and int(term) <= MAX_ID:
            return queryset.filter(pk=int(term)), False
        return queryset.none() if term else queryset, False

    def get_urls(self) -> list[URLPattern]:
        next_case = path(
            "next/",
            self.admin_site.admin_view(require_safe(self.next_view)),
            name=self.view_name("next"),
        )
        return [next_case, *super().get_urls()]

    def next_view(self, request: HttpRequest) -> HttpResponse:
        """Lead to the case behind the one in the query."""
        self._require_staff(request)
        after = request.GET.get(AFTER_PARAMETER, "")
        return self._go_on(request, self._parse_id(after) or 0)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show a case; decide it, then lead to the next one."""
        self._require_staff(request)
        case_id = self._parse_id(object_id)
        if case_id is None:
            raise Http404
        try:
            if request.method == "POST":
                return self._decide(request, case_id)
            return self._show(request, get_case_page(get_actor(request), case_id))
        except NotFoundError:
            raise Http404 from None

    def _decide(self, request: HttpRequest, case_id: int) -> HttpResponse:
        form = JudgementForm(request.POST)
        actor: Member = get_actor(request)
        name = gettext("Case {id}").format(id=case_id)
        if form.is_valid():
            try:
                resolve_case(actor, case_id, form.judgement, timezone.now())
            except ModeratorRequiredError:
                raise PermissionDenied from None
            except AlreadyResolvedError as error:
                told = describe_first(error.members.get("decision"))
                messages.warning(request, f"{name}: {told}")
                return self._go_on(request, case_id)
            except NotYourCaseError as error:
                messages.error(request, f"{name}: {error.detail}")
                return self._go_on(request, case_id)
            except VersionConflictError:
                text = gettext("The text was changed while you were reading.")
                messages.error(request, f"{text} {gettext('Look again.')}")
                kept = {**form.cleaned_data, "action": None}
                return self._show(request, get_case_page(actor, case_id), initial=kept)
            except InvalidFieldError as error:
                form.add_refusals(error.errors)
            else:
                action = form.cleaned_data["action"]
                messages.success(request, f"{name}: {OUTCOMES[action][0]}.")
                return self._go_on(request, case_id)
        return self._show(request, get_case_page(actor, case_id), form=form)

    def _go_on(self, request: HttpRequest, case_id: int) -> HttpResponse:
        """Redirect to the case behind this one, else to the list."""
        found = find_next_case(get_actor(request), case_id)
        if found is not None:
            view = f"admin:{self.view_name('change')}"
            return HttpResponseRedirect(reverse(view, args=[found]))
        if has_open_cases():
            text = gettext("You can decide no other case.")
        else:
            text = gettext("The queue is empty.")
        messages.info(request, text)
        return HttpResponseRedirect(self.get_list_url())

    def _show(
        self,
        request: HttpRequest,
        page: CasePage,
        *,
        form: JudgementForm | None = None,
        initial: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if form is None:
            form = make_form(page, initial or {})
        next_url = reverse(f"admin:{self.view_name('next')}")
        context = {
            **self.admin_site.each_context(request),
            **build_context(page, form, get_actor(request)),
            "title": gettext("Case {id}").format(id=page.case["id"]),
            "opts": self.opts,
            "skip_url": f"{next_url}?{AFTER_PARAMETER}={page.case['id']}",
        }
        return TemplateResponse(request, self.page_template, context)

    def _require_staff(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _parse_id(self, text: str) -> int | None:
        """Return None for what is no id of a row."""
        is_number = self.is_id(text) and len(text) < len(str(MAX_ID))
        return int(text) if is_number else None


def describe_first(decision: dict[str, Any] | None) -> str:
    """Say what somebody else has decided first, who, and when."""
    if decision is None:
        return str(AlreadyResolvedError.detail)
    judge = Member.objects.only("login_id").filter(pk=decision["decidedById"] or 0)
    text = gettext("{who} has decided this already, at {time}: {action}.")
    return text.format(
        who=name_judge(decision, judge.first()),
        time=format_time(decision["decidedAt"]),
        action=OUTCOMES[decision["action"]][0],
    )
