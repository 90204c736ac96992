"""Texts of mails: `templates/mail/<template>.<language>.txt`, and their HTML.

The first line is the subject. A code or link alone in a paragraph is shown large.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template import Context
from django.template.loader import get_template, render_to_string

DEFAULT_NAMES = {"en": "Household Ledger", "ko": "가계부"}
LEFT_OUT = {
    "en": "{count} more mails of this kind were left out. The security log of your "
    "account lists every event.",
    "ko": "같은 종류의 메일 {count}통은 보내지 않았어요. 모든 내역은 계정의 보안 "
    "기록에서 볼 수 있어요.",
}
_CODE_RE = re.compile(r"[A-Z]{4}-[A-Z]{4}")
_BLANK_LINES_RE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class RenderedMail:
    subject: str
    text: str
    html: str


def render_mail(
    template: str, language: str, context: Mapping[str, Any]
) -> RenderedMail:
    service = settings.ABOUT["name"] or DEFAULT_NAMES[language]
    source: Any = get_template(f"mail/{template}.{language}.txt")
    # Only the HTML below is escaped.
    rendered = source.template.render(
        Context({"service": service, **context}, autoescape=False)
    )
    first_line, _, body = rendered.partition("\n")
    if left_out := context.get("left_out"):
        body = f"{body}\n\n{LEFT_OUT[language].format(count=left_out)}"
    # A name may contain line breaks.
    subject = " ".join(first_line.split())
    text = _BLANK_LINES_RE.sub("\n\n", body).strip() + "\n"
    paragraphs = []
    for paragraph in text.strip().split("\n\n"):
        is_link = paragraph.startswith(f"{settings.PUBLIC_URL}/")
        kind = "link" if is_link and " " not in paragraph else "text"
        if _CODE_RE.fullmatch(paragraph):
            kind = "code"
        paragraphs.append((kind, paragraph))
    html = render_to_string(
        "mail/layout.html",
        {"language": language, "subject": subject, "paragraphs": paragraphs},
    )
    return RenderedMail(subject, text, html)
