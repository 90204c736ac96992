"""The audit log in the language of the reader; its texts are stored in English."""

import re

from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from accounts.models import ApplicationSetting, AuditLogEntry
from accounts.security.audit_log import REASON_MARK
from core.admin.columns import Badges
from core.jobs.labels import get_job_label

# Behind the text of a decision.
_CASE_RE = re.compile(r" Case ([0-9]+)\.$")
Action = AuditLogEntry.Action
# Their lines are about a list, not about a row of it.
USES_OF_LISTS = (Action.READ, Action.EXPORT)
_LIST_RE = re.compile(r"(?:Rows: (?P<rows>[0-9]+)\.)? ?(?:Filter: (?P<filter>.*)\.)?")
ACTIONS: Badges = {
    Action.ADDITION: (_("Added"), "good"),
    Action.CHANGE: (_("Changed"), "info"),
    Action.DELETION: (_("Deleted"), "bad"),
    Action.READ: (_("Read"), ""),
    Action.EXPORT: (_("Exported"), "warn"),
}
# Labels of changed models.
TARGETS: Badges = {
    "accounts.Member": (_("Member"), ""),
    "accounts.ApplicationSetting": (_("Setting"), ""),
    "accounts.LegalDocument": (_("Legal document"), ""),
    "accounts.Announcement": (_("Announcement"), ""),
    "accounts.AuditLogEntry": (_("Log"), ""),
    "board.Post": (_("Post"), ""),
    "board.Comment": (_("Comment"), ""),
    "board.Image": (_("Image"), ""),
    "ledger.DefaultCategory": (_("Default category"), ""),
    "django_celery_beat.PeriodicTask": (_("Scheduled job"), ""),
}
SETTING_NAMES: Badges = {
    ApplicationSetting.Name.SIGNUP_ENABLED: (_("Sign-up is open"), ""),
    ApplicationSetting.Name.POSTING: (_("Posts and comments may be written"), ""),
    ApplicationSetting.Name.IMAGES: (_("Images may be uploaded"), ""),
    ApplicationSetting.Name.IDENTITY_PROVIDERS: (
        _("Identity providers may be used"),
        "",
    ),
    ApplicationSetting.Name.READ_ONLY: (_("Read-only: nothing may be changed"), ""),
}
# Named by number, since the log outlives the members' texts.
NUMBERED = ("accounts.Member", "board.Post", "board.Comment", "board.Image")
TEXTS = (
    gettext_noop("Role ADMIN."),
    gettext_noop("Role MODERATOR."),
    gettext_noop("Role MEMBER."),
    gettext_noop("Status ACTIVE."),
    gettext_noop("Status SUSPENDED."),
    gettext_noop("Plan FREE."),
    gettext_noop("Plan PREMIUM."),
    gettext_noop("Name or email."),
    gettext_noop("Session ended."),
    gettext_noop("Sessions ended."),
    gettext_noop("Second factor ended."),
    gettext_noop("Mail for a new password."),
    gettext_noop("Support view."),
    gettext_noop("Hidden."),
    gettext_noop("Hidden for a time."),
    gettext_noop("Shown again."),
    gettext_noop("Deleted."),
    gettext_noop("Silenced."),
    gettext_noop("Silence ended."),
    gettext_noop("Marked as notice."),
    gettext_noop("Unmarked as notice."),
    gettext_noop("Changed Enabled."),
    gettext_noop("Changed On."),
    gettext_noop("No fields changed."),
    gettext_noop("Enabled true."),
    gettext_noop("Enabled false."),
)


def describe_target(entry: AuditLogEntry) -> str:
    if entry.action in USES_OF_LISTS:
        return ""
    if entry.target_type in NUMBERED:
        return entry.target_id
    if entry.target_type == "accounts.ApplicationSetting":
        return str(SETTING_NAMES.get(entry.target_id, (entry.target_label, ""))[0])
    if entry.target_type == "django_celery_beat.PeriodicTask":
        return get_job_label(entry.target_label.partition(":")[0])
    return entry.target_label


def describe_text(entry: AuditLogEntry) -> str:
    known, mark, reason = entry.text.partition(REASON_MARK)
    if mark and known in TEXTS:
        told = gettext("Reason: {reason}").format(reason=reason)
        return f"{gettext(known)} {told}"
    if entry.action in USES_OF_LISTS:
        return describe_use_of_list(entry.text)
    found = _CASE_RE.search(entry.text)
    text = entry.text[: found.start()] if found else entry.text
    shown = gettext(text) if text else ""
    if found is None:
        return shown
    case = gettext("Case {id}.").format(id=found[1])
    return f"{shown} {case}"


def describe_use_of_list(text: str) -> str:
    """Describe what `administration.log` writes: the number of rows, the filter."""
    found = _LIST_RE.fullmatch(text)
    if found is None:
        return text
    rows, conditions = found["rows"], found["filter"]
    parts = []
    if rows is not None:
        parts.append(gettext("Rows: {count}.").format(count=f"{int(rows):,}"))
    if conditions is not None:
        parts.append(gettext("Filter: {filter}.").format(filter=conditions))
    return " ".join(parts)


def link_to_target(entry: AuditLogEntry) -> SafeString | str:
    """Return a link to the changed object, which may be gone."""
    name = describe_target(entry)
    if entry.action == Action.DELETION or not entry.target_id:
        return name
    model = entry.target_type.lower().replace(".", "_")
    try:
        url = reverse(f"admin:{model}_change", args=[entry.target_id])
    except NoReverseMatch:
        return name
    return format_html('<a href="{}">{}</a>', url, name)
