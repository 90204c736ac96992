"""The texts of mails: `templates/mail/<template>.<language>.txt`, and HTML around them.

The first line of a template is the subject. A paragraph that is a code or a link of
this service alone is shown large in HTML.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.template import Context
from django.template.loader import get_template, render_to_string

# What the service is called where no SERVICE_NAME is set.
DEFAULT_NAMES = {"en": "Household Ledger", "ko": "가계부"}
_CODE_RE = re.compile(r"[A-Z]{4}-[A-Z]{4}")
_BLANK_LINES_RE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class RenderedMail:
    """A subject of one line, and the body as plain text and as HTML."""

    subject: str
    text: str
    html: str


def render_mail(
    template: str, language: str, context: Mapping[str, Any]
) -> RenderedMail:
    """Render a mail in `ko` or `en`."""
    service = settings.ABOUT["name"] or DEFAULT_NAMES[language]
    source: Any = get_template(f"mail/{template}.{language}.txt")
    # Plain text is not escaped; the HTML is, below.
    rendered = source.template.render(
        Context({"service": service, **context}, autoescape=False)
    )
    first_line, _, body = rendered.partition("\n")
    # Whatever a name holds, a header is one line.
    subject = " ".join(first_line.split())
    text = _BLANK_LINES_RE.sub("\n\n", body).strip() + "\n"
    html = render_to_string(
        "mail/layout.html",
        {
            "language": language,
            "subject": subject,
            "paragraphs": list(_list_paragraphs(text)),
        },
    )
    return RenderedMail(subject, text, html)


def _list_paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind of each paragraph, code, link or text, and what it says."""
    for paragraph in text.strip().split("\n\n"):
        if _CODE_RE.fullmatch(paragraph):
            yield "code", paragraph
        elif paragraph.startswith(f"{settings.PUBLIC_URL}/") and " " not in paragraph:
            yield "link", paragraph
        else:
            yield "text", paragraph
