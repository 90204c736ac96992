"""The catalogues: each text for clients is marked, translated and compiled."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import translation
from rest_framework import serializers
from rest_framework.fields import Field

from accounts.models import Member
from core.api.exception_handler import TITLES
from core.api.serializers import Serializer
from core.errors import DomainError

ROOT = Path(settings.BASE_DIR)
PACKAGES = (
    "accounts",
    "administration",
    "billing",
    "board",
    "config",
    "core",
    "ledger",
)
CATALOGUE = ROOT / "locale" / "ko" / "LC_MESSAGES" / "django.po"
KEYWORDS: dict[str, Any] = DEFAULT_KEYWORDS | {
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
}
# As babel.cfg has them.
METHODS = [
    ("**.py", "python"),
    ("**.html", "devstack.template_messages:extract_template"),
]
HANGUL = re.compile("[가-힣]")
PLACEHOLDER = re.compile(r"\{\w*(?::\w+)?\}|%\(\w+\)s|%d")
# What only operators and staff read, programs that do not know Django, and the examples of
# the document, which is in English (decision 0105).
NOT_FOR_CLIENTS = re.compile(
    r"/migrations/|/commands/|/demo/|/db/|/jobs/|/tasks\.py|ledger/distribution\.py"
    r"|image_sandbox|sandboxed_reader|/(\w+_)?examples\.py|/openapi_examples[./]"
)
# Exceptions that no client sees.
INTERNAL_ERRORS = {
    "CommandError",
    "DistributionError",
    "ImproperlyConfigured",
    "RuntimeError",
    "TypeError",
    "UnorderedListError",
    "ValueError",
}


def import_all() -> None:
    """Import every module, so that each class is known."""
    for package in PACKAGES:
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not re.search(r"\.migrations|^config\.(rsgi|server)", module.name):
                importlib.import_module(module.name)


def subclasses_of(kind: Any) -> Iterator[Any]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from subclasses_of(subclass)


@pytest.fixture(scope="module")
def catalogue() -> Catalog:
    return read_po(BytesIO(CATALOGUE.read_bytes()), locale="ko")


def text_of(message: str | tuple[str, ...] | list[str] | None) -> str:
    """Return the text, or the first of its forms."""
    assert message
    return message if isinstance(message, str) else message[0]


def list_messages(catalogue: Catalog) -> list[Message]:
    return [message for message in catalogue if message.id]


def test_catalogue_has_the_texts_of_the_source(catalogue: Catalog) -> None:
    marked = {
        text
        for folder in (*PACKAGES, "templates")
        for _, _, text, _, _ in extract_from_dir(
            ROOT / folder, METHODS, keywords=KEYWORDS, strip_comment_tags=True
        )
    }
    assert {m.id for m in list_messages(catalogue)} == marked, "run script/messages"


def test_each_text_is_translated(catalogue: Catalog) -> None:
    for message in list_messages(catalogue):
        text = text_of(message.string)
        assert HANGUL.search(text), message.id
        assert not message.fuzzy, message.id


def test_translations_have_the_placeholders_of_their_texts(catalogue: Catalog) -> None:
    for message in list_messages(catalogue):
        # Korean has one form, for the last of English.
        forms = [message.id] if isinstance(message.id, str) else message.id
        source, translated = forms[-1], text_of(message.string)
        given = set(PLACEHOLDER.findall(source))
        assert set(PLACEHOLDER.findall(translated)) <= given, source


def test_translated_sentences_are_polite(catalogue: Catalog) -> None:
    # Labels, titles and links are no sentences.
    sentences = [
        message
        for message in list_messages(catalogue)
        if text_of(message.id).endswith((".", "…", "!", "?"))
    ]
    assert len(sentences) > 200
    for message in sentences:
        text = text_of(message.string)
        # A list may follow a colon.
        sentence = text.partition(": {")[0].rstrip(".")
        assert sentence.endswith("요"), text


def test_compiled_catalogue_is_that_of_the_texts(catalogue: Catalog) -> None:
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    assert CATALOGUE.with_suffix(".mo").read_bytes() == compiled.getvalue(), (
        "run script/messages"
    )
    assert len(read_mo(BytesIO(compiled.getvalue()))) == len(catalogue)


def test_each_error_has_korean() -> None:
    import_all()
    errors = {DomainError, *subclasses_of(DomainError)}
    assert len(errors) > 40
    for error in errors:
        with translation.override("ko"):
            assert HANGUL.search(str(error.detail)), error
            assert HANGUL.search(str(TITLES[error.status])), error
        with translation.override("en"):
            assert not HANGUL.search(str(error.detail)), error


def list_field_texts(field: Field[Any, Any, Any, Any]) -> Iterator[str]:
    yield from map(str, field.error_messages.values())
    for validator in field.validators:
        message = getattr(validator, "message", None)
        if message is not None:
            yield str(getattr(message, "format_string", None) or message)
    for name in "child", "pk_field":
        if (part := getattr(field, name, None)) is not None:
            yield from list_field_texts(part)
    if isinstance(field, serializers.Serializer):
        for part in field.fields.values():
            yield from list_field_texts(part)


def test_each_text_of_a_serializer_has_korean() -> None:
    import_all()
    classes = [*subclasses_of(Serializer)]
    assert len(classes) > 80
    # Used inside of others.
    extra = [serializers.EmailField(), serializers.RegexField("a")]
    with translation.override("ko"):
        for field in [*(kind() for kind in classes), *extra]:
            for text in list_field_texts(field):
                assert HANGUL.search(text), (field, text)


@pytest.mark.parametrize("password", ["12345678", "password", "a1!", "minji-kim-1"])
def test_each_password_validator_has_korean(password: str) -> None:
    member = Member(login_id="minji-kim", email="a@example.com", display_name="Kim")
    with translation.override("ko"), pytest.raises(ValidationError) as refusal:
        validate_password(password, member)
    for text in refusal.value.messages:
        assert HANGUL.search(text)
        assert not re.search("[A-Za-z]", text)


def is_text(node: ast.AST) -> bool:
    """Return True for what reads like a sentence, unlike a code or a field's name."""
    if isinstance(node, ast.JoinedStr):
        return any(is_text(part) for part in node.values)
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (" " in node.value.strip() or node.value.endswith((".", "…")))
    )


def find_unmarked_texts(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield texts that are given to errors, or stand where errors have theirs."""
    constants = {
        getattr(target, "id", ""): node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    for node in ast.walk(tree):
        values: list[ast.expr | None] = []
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name.endswith("Error") and name not in INTERNAL_ERRORS:
                values = [*node.args, *(k.value for k in node.keywords)]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            name = getattr(target, "id", "")
            if name in {"detail", "message", "default_error_messages"} or re.search(
                "[A-Z]_(TAKEN|EXISTS|MESSAGE|DETAILS|ERRORS)$", name
            ):
                values = [node.value]
        for value in [*values]:
            if isinstance(value, ast.Dict):
                values += [*value.values]
            elif isinstance(value, ast.Name) and value.id in constants:
                values.append(constants[value.id])
        yield from (value for value in values if value is not None and is_text(value))


@pytest.mark.parametrize(
    "source",
    [
        'raise NotFoundError("It is gone.")',
        'raise NotFoundError(f"No {name} here.")',
        'InvalidFieldError("name", "Too long, sorry", "max_length")',
        'raise serializers.ValidationError({"to": "Must be later."})',
        'class A(DomainError):\n    detail = "It is gone."',
        'NAME_TAKEN = "It is taken."',
        'GONE = "It is gone."\nraise NotFoundError(GONE)',
        'default_error_messages = {"comma": "No commas."}',
    ],
)
def test_unmarked_texts_are_found(source: str) -> None:
    assert [*find_unmarked_texts(ast.parse(source))]


def test_texts_for_clients_are_marked() -> None:
    unmarked = [
        f"{path.relative_to(ROOT)}:{text.lineno}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if not NOT_FOR_CLIENTS.search(path.as_posix())
        for text in find_unmarked_texts(ast.parse(path.read_text("utf-8")))
    ]
    assert unmarked == []


def test_texts_of_fields_are_ours() -> None:
    # DRF's name types of Python ("Decimal", "pk") and echo what was sent.
    import_all()
    foreign = re.compile(
        r"(?i)\bpk\b|dictionary|\belements\b|integer|\bstring\b|boolean|\{input|_type\}"
        r"|^Ensure|wrong format|\{datatype"
    )
    with translation.override("en"):
        texts = {
            text
            for kind in subclasses_of(Serializer)
            for text in list_field_texts(kind())
        }
    assert {"Not found.", "Must be a list."} <= texts
    assert [text for text in texts if foreign.search(text)] == []
