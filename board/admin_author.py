"""The page of staff on all that one author wrote: hide, delete, show again."""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views import View

from accounts.models import Member
from board.admin_actions import (
    DELETED,
    DELETION_QUESTION,
    HIDDEN,
    HIDING_QUESTION,
    REASONS,
    SHOWN,
    report_outcome,
)
from board.admin_columns import author_url
from board.models import Decision, TargetType
from board.moderation.bulk import Targets
from board.moderation.decisions import find_refusal
from board.moderation.deeds import (
    MAX_ROWS,
    DeedKey,
    has_written,
    judge_author,
    list_deeds,
    list_targets_of,
    undo_deed,
)
from core.admin.actions import (
    FOUND_FIELD,
    REASON_FIELD,
    RowLink,
    get_actor,
    tell_of_change,
)
from core.admin.columns import Text
from core.errors import NotFoundError

Action = Decision.Action
TEMPLATE = "admin/author_content.html"
LABELS: dict[str, Text] = {Action.HIDE: _("Hide all"), Action.DELETE: _("Delete all")}
DONE: dict[str, Any] = {Action.HIDE: HIDDEN, Action.DELETE: DELETED}
QUESTIONS: dict[str, Any] = {
    Action.HIDE: HIDING_QUESTION,
    Action.DELETE: DELETION_QUESTION,
}
WAS_DONE: dict[str, Text] = {Action.HIDE: _("Hidden"), Action.DELETE: _("Deleted")}


def link_to_author(member_id: int) -> RowLink:
    return RowLink(author_url(member_id), _("All of this author"))


@dataclass(frozen=True, slots=True)
class Offer:
    """One of the two deeds, with what it would be about."""

    action: str
    targets: Targets

    @property
    def label(self) -> Text:
        return LABELS[self.action]

    @property
    def question(self) -> Text:
        text: Text = QUESTIONS[self.action]
        return text

    @property
    def is_dangerous(self) -> bool:
        return self.action == Action.DELETE

    @property
    def posts(self) -> int:
        return len(self.targets[TargetType.POST])

    @property
    def comments(self) -> int:
        return len(self.targets[TargetType.COMMENT])

    @property
    def count(self) -> int:
        return self.posts + self.comments

    @property
    def is_capped(self) -> bool:
        return self.count == MAX_ROWS

    @property
    def fingerprint(self) -> str:
        digest = hashlib.sha256(repr(sorted(self.targets.items())).encode())
        return f"{self.count}-{digest.hexdigest()[:16]}"


class AuthorView(View):
    model_admin: Any = None

    def dispatch(self, request: HttpRequest, *args: Any, **options: Any) -> Any:
        if not self.model_admin.has_view_permission(request):
            raise PermissionDenied
        return super().dispatch(request, *args, **options)

    def get(self, request: HttpRequest, member_id: int) -> HttpResponse:
        return self._show(request, self._get_author(request, member_id))

    def post(self, request: HttpRequest, member_id: int) -> HttpResponse:
        author = self._get_author(request, member_id)
        if find_refusal(get_actor(request), author):
            raise PermissionDenied
        name = request.POST.get("action", "")
        if name == "show":
            return self._undo(request, author)
        if name not in LABELS:
            messages.error(request, gettext("No action selected."))
            return self._lead_back(author)
        if request.POST.get(REASON_FIELD) not in REASONS:
            return self._show(request, author, wanted=name)
        offer = Offer(name, list_targets_of(author.pk, name))
        if request.POST.get(FOUND_FIELD) != offer.fingerprint:
            messages.warning(request, tell_of_change(offer.count))
            return self._show(request, author)
        outcome = judge_author(
            get_actor(request),
            offer.targets,
            name,
            request.POST[REASON_FIELD],
            timezone.now(),
        )
        report_outcome(request, outcome, DONE[name])
        return self._lead_back(author)

    def _undo(self, request: HttpRequest, author: Member) -> HttpResponse:
        now = timezone.now()
        try:
            key = DeedKey.parse(request.POST.get("deed", ""))
            outcome = undo_deed(get_actor(request), author.pk, key, now)
        except NotFoundError:
            text = gettext("This can no longer be undone. Nothing has been changed.")
            messages.error(request, text)
        else:
            report_outcome(request, outcome, SHOWN)
        return self._lead_back(author)

    def _show(
        self, request: HttpRequest, author: Member, *, wanted: str = ""
    ) -> HttpResponse:
        refusal = find_refusal(get_actor(request), author)
        offers = [
            Offer(action, list_targets_of(author.pk, action)) for action in LABELS
        ]
        deeds = [
            {
                "deed": deed,
                "label": WAS_DONE[deed.action],
                "reason": REASONS.get(deed.reason, ""),
            }
            for deed in list_deeds(author.pk, timezone.now())
        ]
        context = {
            **self.model_admin.admin_site.each_context(request),
            "title": gettext("All of {name}").format(name=author.login_id),
            "opts": self.model_admin.opts,
            "author": author,
            "refusal": refusal,
            "offers": [] if refusal else offers,
            "deeds": deeds,
            "kept_days": settings.BOARD_KEPT_DAYS,
            "reasons": REASONS,
            "reason_field": REASON_FIELD,
            "found_field": FOUND_FIELD,
            "wanted": wanted,
            "author_query": f"?q=@{author.login_id}",
        }
        return TemplateResponse(request, TEMPLATE, context)

    def _get_author(self, request: HttpRequest, member_id: int) -> Member:
        rows = Member.objects.only("login_id", "role", "status")
        author = get_object_or_404(rows, pk=member_id)
        actor: Member = get_actor(request)
        # Moderators learn the login IDs of those only about whom they decide.
        if not (actor.is_administrator or has_written(author.pk)):
            raise Http404
        return author

    def _lead_back(self, author: Member) -> HttpResponse:
        return HttpResponseRedirect(link_to_author(author.pk).url)
