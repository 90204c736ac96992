"""Actions on members of a list in Django admin, each with a question."""

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from administration.members import set_member_plan, set_member_role, set_member_status
from administration.reauthentication import ask_again
from core.admin.actions import Action, ActionAdmin, get_actor
from core.admin.columns import Text
from core.admin.places import add_list_query, read_list_query
from core.api.permissions import AdminRequiredError
from core.errors import DomainError

# Proxies wait for 30 to 60 seconds.
MAX_ACTION_SECONDS = 20.0
MAX_TOLD_ERRORS = 5


def ask_who(request: HttpRequest, model_admin: ActionAdmin) -> HttpResponse | None:
    """Ask for fresh authentication, which roles and plans need (spec 2.13)."""
    cancel_url = add_list_query(model_admin.get_list_url(), read_list_query(request))
    return ask_again(request, model_admin.admin_site, cancel_url=cancel_url)


def make_action(
    change: Callable[[Member, int], Member],
    label: Text,
    question: Text,
    target_values: dict[str, Any],
    *,
    is_dangerous: bool = False,
    needs_fresh: bool = False,
    is_on_page: bool = True,
) -> Action:
    """Return an action on members whose values differ from `target_values`."""

    def has_effect_on(member: Member) -> bool:
        return any(getattr(member, k) != value for k, value in target_values.items())

    def apply(request: HttpRequest, ids: Collection[int]) -> None:
        rows = Member.objects.only("login_id", *target_values).filter(pk__in=ids)
        members = list(rows.order_by("pk"))
        due = [member for member in members if has_effect_on(member)]
        change_members(request, partial(change, get_actor(request)), due, label)
        report_unchanged(request, len(members) - len(due))

    return Action(
        label,
        apply,
        question=question,
        has_effect_on=has_effect_on,
        is_dangerous=is_dangerous,
        guard=ask_who if needs_fresh else _pass,
        is_on_page=is_on_page,
    )


def _pass(request: HttpRequest, model_admin: ActionAdmin) -> None:
    """Stand before an action that needs no fresh authentication."""


def change_members(
    request: HttpRequest,
    change: Callable[[int], Member],
    members: Sequence[Member],
    label: Text,
) -> None:
    """Change each member in a transaction, and tell what was done to how many."""
    end = time.monotonic() + MAX_ACTION_SECONDS
    errors: list[str] = []
    refused = done = left = 0
    # A refused member does not stop the others.
    for place, member in enumerate(members):
        if time.monotonic() >= end:
            left = len(members) - place
            break
        try:
            change(member.pk)
        except AdminRequiredError as error:
            # The actor has lost the role meanwhile.
            errors.append(str(error.detail))
            left = len(members) - place
            break
        except DomainError as error:
            refused += 1
            errors.append(f"{member}: {error.detail}")
        else:
            done += 1
    for text in errors[:MAX_TOLD_ERRORS]:
        messages.error(request, text)
    report_members(request, label, members, done=done, refused=refused, left=left)


def report_members(
    request: HttpRequest,
    label: Text,
    members: Sequence[Member],
    *,
    done: int,
    refused: int,
    left: int,
) -> None:
    if done and len(members) == 1:
        text = gettext("{member}: {action}: done.")
        messages.success(request, text.format(member=members[0], action=label))
    elif done:
        text = ngettext(
            "{action}: {count} member: done.", "{action}: {count} members: done.", done
        )
        messages.success(request, text.format(action=label, count=f"{done:,}"))
    if refused > MAX_TOLD_ERRORS:
        text = gettext("{count} members in all were refused.")
        messages.error(request, text.format(count=f"{refused:,}"))
    if left:
        text = ngettext(
            "{count} is left: repeat the action to go on.",
            "{count} are left: repeat the action to go on.",
            left,
        )
        messages.warning(request, text.format(count=f"{left:,}"))


def report_unchanged(request: HttpRequest, count: int) -> None:
    text = ngettext(
        "{count} left as it is: it was so already.",
        "{count} left as they are: they were so already.",
        count,
    )
    if count:
        messages.warning(request, text.format(count=f"{count:,}"))


MEMBER_ACTIONS = {
    "set_premium": make_action(
        partial(set_member_plan, plan=Member.Plan.PREMIUM),
        _("Give Premium"),
        _("The member gets Premium without an end; the subscription data is cleared."),
        {"plan": Member.Plan.PREMIUM, "plan_expires_at": None},
        needs_fresh=True,
    ),
    "set_free": make_action(
        partial(set_member_plan, plan=Member.Plan.FREE),
        _("End Premium"),
        _("The member loses Premium at once; the subscription data is cleared."),
        {"plan": Member.Plan.FREE, "plan_expires_at": None},
        needs_fresh=True,
    ),
    "suspend": make_action(
        partial(set_member_status, status=Member.Status.SUSPENDED),
        _("Suspend"),
        _("All sessions end at once, and the member can no longer log in."),
        {"status": Member.Status.SUSPENDED},
        is_dangerous=True,
        # The page of a member asks for end and reason.
        is_on_page=False,
    ),
    "activate": make_action(
        partial(set_member_status, status=Member.Status.ACTIVE),
        _("Reactivate"),
        _("The member can log in again."),
        {"status": Member.Status.ACTIVE},
    ),
    "make_administrator": make_action(
        partial(set_member_role, role=Member.Role.ADMIN),
        _("Make administrator"),
        _("The member can use these pages and change all other members."),
        {"role": Member.Role.ADMIN},
        needs_fresh=True,
    ),
    "make_moderator": make_action(
        partial(set_member_role, role=Member.Role.MODERATOR),
        _("Make moderator"),
        _("The member can use the pages of the board, and decides about reports."),
        {"role": Member.Role.MODERATOR},
        needs_fresh=True,
    ),
    "make_member": make_action(
        partial(set_member_role, role=Member.Role.MEMBER),
        _("Remove staff role"),
        _("The member can no longer use these pages."),
        {"role": Member.Role.MEMBER},
        needs_fresh=True,
    ),
}
